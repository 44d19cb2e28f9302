/** True if the client states HTML before, or as much as, JSON (RFC 9110 section 12.5.1). A program states neither. */
export function prefersHtml(accept = ''): boolean {
  const weight = (type: string) => {
    const range = accept.split(',').find((part) => part.trim().startsWith(type))
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
  }
  return weight('text/html') > 0 && weight('text/html') >= weight('application/json')
}
