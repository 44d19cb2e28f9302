import { isIP } from 'node:net'
import { serverCardType } from '../../../../schemas/ard.ts'
import { modernVersion } from '../../../common/mcp/protocol.ts'
import type { Mount } from '../../http/app.ts'
import { documentMount } from '../../http/document.ts'
import type { TransportContext } from '../../shared/transport-context.ts'

/** The supported protocol versions, newest first. */
export const supportedVersions = [
  modernVersion,
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
] as const

/** The path of SEP-2127, and older ones that clients still request. */
const paths = ['/mcp/server-card', '/.well-known/mcp/server-card.json', '/.well-known/mcp.json'] as const

/** The MCP Server Card (SEP-2127): the server, its address and its protocol versions. */
export function serverCardMounts(
  context: Pick<TransportContext, 'limits' | 'site' | 'trusted_proxies'>,
  version: string,
): Mount[] {
  const render = ({ base_url }: { readonly base_url: string }) => JSON.stringify(cardOf(base_url, version))
  return paths.map((path) => documentMount(context, { path, type: serverCardType, render, max_age_s: 3600 }))
}

function cardOf(base_url: string, version: string): object {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json',
    name: `${reversed(new URL(base_url).hostname)}/dragoman`,
    version,
    title: 'Dragoman',
    description: 'A registry of software agents: find one by intent, read its card, call it.',
    remotes: [
      { type: 'streamable-http', url: `${base_url}/mcp`, supportedProtocolVersions: [...supportedVersions] },
    ],
  }
}

/** The domain as a namespace; undefined for an IP address. */
function reversed(hostname: string): string {
  const address = hostname.startsWith('[') || isIP(hostname) !== 0
  return address ? 'localhost' : hostname.split('.').reverse().join('.')
}
