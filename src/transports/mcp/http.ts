import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { clientOf } from '../client.ts'
import { authenticated, type Door } from '../door.ts'
import type { Mount } from '../http/app.ts'
import { parseJson, readBody } from '../http/body.ts'
import { requestId } from '../http/identity.ts'
import type { Handler } from '../http/rest.ts'
import { refuseRequest } from '../json-rpc/refuse.ts'
import { assertPlainMessage } from './depth.ts'
import type { McpCaller } from './server.ts'

type Serve = (request: unknown, response: unknown, body: unknown) => Promise<void>

export interface McpHttpOptions {
  readonly door: Door
  readonly version: string
  readonly allowsOrigin: (origin: string) => boolean
  readonly failed: (fault: unknown) => void
}

/** Streamable HTTP at `/mcp`, stateless, both eras. The SDK is loaded with the first request. */
export function mcpMounts(options: McpHttpOptions): Mount[] {
  let serving: Promise<Serve> | undefined
  const handler: Handler = async (request, response) => {
    const id = requestId(request)
    try {
      const { origin, authorization } = request.headers
      if (origin !== undefined && !options.allowsOrigin(origin)) {
        throw new Failure('forbidden', `Pages of ${origin} may not call here.`)
      }
      const principal = await authenticated(options.door, authorization)
      const body = request.method === 'POST' ? parseJson(await readBody(request)) : undefined
      assertPlainMessage(body)
      serving ??= load(options)
      const serve = await serving
      const caller: McpCaller = {
        client: clientOf(options.door, request),
        identify: () => authenticated(options.door, authorization),
      }
      await serve(Object.assign(request, { auth: authInfo(principal, caller) }), response, body)
    } catch (thrown) {
      refuseRequest(options.door, request, response, thrown, id)
    }
  }
  return (['get', 'post', 'delete'] as const).map((method) => ({ method, path: '/mcp', handler }))
}

async function load({ door, version, failed }: McpHttpOptions): Promise<Serve> {
  const [{ createMcpHandler }, { toNodeHandler }, { createMcpServers }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
    import('./server.ts'),
  ])
  const createServer = createMcpServers(door, version)
  const handler = createMcpHandler(({ authInfo }) => createServer(authInfo?.extra?.caller as McpCaller), {
    onerror: failed,
  })
  return toNodeHandler(handler, { onerror: failed }) as Serve
}

/** The SDK hands this through to the factory untouched. */
function authInfo(principal: Principal | null, caller: McpCaller): unknown {
  return {
    token: '',
    clientId: principal?.subject ?? 'anonymous',
    scopes: [...(principal?.scopes ?? [])],
    extra: { caller },
  }
}
