import { version } from '../app/assets.ts'
import { readConfig } from '../app/config.ts'
import { openGateway } from '../app/gateway.ts'
import { principalOf } from '../auth/bearer.ts'
import { createMcpService } from '../transports/mcp/service.ts'
import { serveMcpStdio } from '../transports/mcp/stdio.ts'

/** Serves MCP over stdio. Anonymous unless DRAGOMAN_TOKEN holds a token, which is checked for each call. */
export async function mcp(): Promise<void> {
  const config = readConfig()
  await using gateway = await openGateway(config)
  const token = config.DRAGOMAN_TOKEN
  const identify = () => principalOf(token && `Bearer ${token}`, gateway.authenticate, '/mcp')
  const onError = (fault: unknown) => gateway.log.warn({ err: fault }, 'mcp')
  await serveMcpStdio(createMcpService(gateway, version, onError), identify, onError)
}
