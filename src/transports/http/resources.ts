/** The protected resources (RFC 8707, RFC 9728) in addition to the gateway as a whole. */
export const resourcePaths = ['/mcp', '/mcp/ws', '/rpc', '/a2a/message', '/a2a/v1'] as const

/** Every audience of tokens for this gateway. */
export function resourcesOf(baseUrl: string): readonly string[] {
  return [baseUrl, `${baseUrl}/`, ...resourcePaths.map((path) => `${baseUrl}${path}`)]
}

/** The address of a resource's metadata: the well-known part comes between host and path (RFC 9728 section 3.1). */
export function metadataUrl(baseUrl: string, path: string, kind = 'oauth-protected-resource'): string {
  const { origin, pathname } = new URL(baseUrl)
  const prefix = pathname === '/' ? '' : pathname
  return `${origin}/.well-known/${kind}${prefix}${path}`
}
