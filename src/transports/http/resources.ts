/** The address of a resource's metadata: the well-known part comes between host and path (RFC 9728 section 3.1). */
export function metadataUrl(baseUrl: string, path: string, kind = 'oauth-protected-resource'): string {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname === '/' ? '' : pathname
  return `${origin}/.well-known/${kind}${prefix}${path}`
}
