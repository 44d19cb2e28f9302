// Runs before the page is painted, so that a chosen theme does not flash, and nothing that needs scripts appears late.
document.documentElement.dataset.scripted = ''
try {
  const { theme } = localStorage
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // A browser that blocks cookies keeps nothing.
}
