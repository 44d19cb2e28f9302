/** The host, port and name of a database: the parts of its URL that are not secret. */
export function databaseAddress(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = decodeURIComponent(hostname) || searchParams.get('host') || 'localhost'
  return `${host}${port && `:${port}`}${pathname === '/' ? '' : pathname}`
}
