import { isRecord } from '../json.ts'

/**
 * The newest supported protocol version. Protocol versions are dates and compare as text. Every older one is legacy.
 */
export const modernVersion = '2026-07-28'

const prefix = 'io.modelcontextprotocol/'
export const versionKey = `${prefix}protocolVersion`
export const clientInfoKey = `${prefix}clientInfo`
export const capabilitiesKey = `${prefix}clientCapabilities`
export const logLevelKey = `${prefix}logLevel`
export const serverInfoKey = `${prefix}serverInfo`

/** Whether params name a protocol version in `_meta`: then the rules of 2026-07-28 apply to the request. */
export function namesRevision(params: unknown): boolean {
  const meta = isRecord(params) ? params._meta : undefined
  return isRecord(meta) && versionKey in meta
}

const nameMembers: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/**
 * The member of a method's params that the header `Mcp-Name` repeats (Streamable HTTP, Standard Request Headers);
 * undefined for a method that has none.
 */
export function nameMember(method: string): 'name' | 'uri' | undefined {
  return Object.hasOwn(nameMembers, method) ? nameMembers[method] : undefined
}
