/** A database as it may be shown: host, port and name, nothing else of its address. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = decodeURIComponent(hostname) || searchParams.get('host') || 'localhost'
  return `${host}${port && `:${port}`}${pathname === '/' ? '' : pathname}`
}
