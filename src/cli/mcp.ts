import { version } from '../app/assets.ts'
import { readConfig } from '../app/config.ts'
import { openGateway } from '../app/gateway.ts'
import { localPerson } from '../auth/authenticator.ts'
import { principalOf } from '../auth/bearer.ts'
import { createMcpService } from '../transports/mcp/service.ts'
import { serveMcpStdio } from '../transports/mcp/stdio.ts'

/**
 * Serves MCP over stdio as the person at this machine, or as the holder of DRAGOMAN_TOKEN, which is checked for each
 * call. `manage` lets the model change what the caller may change.
 */
export async function mcp({ manage = false }: { readonly manage?: boolean }): Promise<void> {
  const config = readConfig()
  const token = config.DRAGOMAN_TOKEN
  const person = localPerson(manage)
  await using gateway = await openGateway(config, token === undefined ? { person } : {})
  const identify = () =>
    token === undefined ? person : principalOf(`Bearer ${token}`, gateway.authenticate, '/mcp')
  const onError = (fault: unknown) => gateway.log.warn({ err: fault }, 'mcp')
  const service = createMcpService(gateway, version, onError)
  await serveMcpStdio(service, { identify, manages: manage }, onError)
}
