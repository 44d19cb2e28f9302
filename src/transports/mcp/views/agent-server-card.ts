import { serverCardType } from '../../../../schemas/ard.ts'
import type { EntryDetail } from '../../../../schemas/card.ts'
import { Failure } from '../../../../schemas/failure.ts'
import { registryName } from '../../../../schemas/names.ts'
import type { Mount } from '../../http/app.ts'
import { identify } from '../../http/caller.ts'
import { nameIn } from '../../http/input.ts'
import { requestId } from '../../http/request-id.ts'
import { send, sendFailure } from '../../http/respond.ts'
import { corsHeaders, signalOf } from '../../http/rest.ts'
import { clientOf } from '../../shared/client-address.ts'
import { failureOf, type TransportContext } from '../../shared/transport-context.ts'

/** `GET /mcp/agents/:agent/server-card`: the MCP Server Card (SEP-2127) of a listed agent, for calls through this gateway. */
export function agentServerCardMount(context: TransportContext): Mount {
  return {
    method: 'get',
    path: '/mcp/agents/:agent{/:rest}/server-card',
    open: true,
    async handler(request, response) {
      const id = requestId(request)
      try {
        const principal = await identify(context, request)
        const call = { principal, signal: signalOf(response), id, client: clientOf(context, request) }
        const agent = nameIn(request.params, 'agent')
        const { output } = await context.dispatch(
          { to: registryName, action: 'get_agent', params: { agent } },
          call,
        )
        const entry = output as unknown as EntryDetail
        if (entry.state !== 'ACTIVE') throw new Failure('not_found', `No agent is listed as ${agent}.`)
        send(request, response, 200, JSON.stringify(cardOf(entry, context.site().base_url)), {
          ...corsHeaders,
          'X-Request-Id': id,
          'Content-Type': serverCardType,
          'Cache-Control': `${principal ? 'private' : 'public'}, max-age=60`,
          Vary: 'Authorization',
        })
      } catch (thrown) {
        sendFailure(context, request, response, failureOf(context, thrown), id, corsHeaders)
      }
    },
  }
}

/** The agent's own address stays in the registry: calls through the gateway need no other. */
function cardOf(entry: EntryDetail, baseUrl: string): object {
  const { package_name, name, description, version, packages, callable } = entry
  const isCallable = callable !== 'no' && callable !== 'package'
  const url = `${baseUrl}/mcp/agents/${encodeURIComponent(package_name)}`
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json',
    name: serverName(package_name),
    version: version ?? '0.0.0',
    title: name,
    description,
    ...(isCallable && { remotes: [{ type: 'streamable-http', url }] }),
    ...(packages.length > 0 && {
      packages: packages.map(({ registry_type, identifier, version }) => ({
        registryType: registry_type,
        identifier,
        ...(version !== undefined && { version }),
      })),
    }),
  }
}

/** A name with one slash: that of the package, or its last dot. */
function serverName(packageName: string): string {
  return packageName.includes('/') ? packageName : packageName.replace(/\.(?=[^.]*$)/, '/')
}
