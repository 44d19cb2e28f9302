/** True for a document that names the schema of server.json. */
export function hasServerSchema({ $schema }: Record<string, unknown>): boolean {
  return typeof $schema === 'string' && $schema.endsWith('/server.schema.json')
}

/** True for a server.json document of the MCP registry, which states no package name. */
export function isServerDocument(document: Record<string, unknown>): boolean {
  const { name, package_name } = document
  if (package_name !== undefined) return false
  if (document.$schema !== undefined) return hasServerSchema(document)
  return typeof name === 'string' && /^[A-Za-z0-9.-]+\/[A-Za-z0-9._-]+$/.test(name)
}
