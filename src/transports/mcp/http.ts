import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { codes, Failure, problem } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isMessage, isRequest, type McpRequest } from '../../common/mcp/message.ts'
import { costs } from '../../router/limiter.ts'
import type { Mount } from '../http/app.ts'
import { parseBody, readBody } from '../http/body.ts'
import { identify } from '../http/caller.ts'
import { requestId } from '../http/request-id.ts'
import { send } from '../http/respond.ts'
import type { Handler } from '../http/rest.ts'
import { invalidRequest, parseError } from '../json-rpc/frames.ts'
import { refuseRequest } from '../json-rpc/refuse.ts'
import { clientOf } from '../shared/client-address.ts'
import { type AllowsOrigin, assertOrigin } from '../shared/origins.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import type { ForwardedService } from './forwarded-service.ts'
import { serveLegacy } from './protocol-2025/http.ts'
import { serveExchange } from './protocol-2026/exchange.ts'
import { Fault, faultText } from './protocol-2026/fault.ts'
import { isModern } from './protocol-2026/headers.ts'
import { assertPlainMessage } from './protocol-2026/plain-message.ts'
import type { McpCaller } from './protocol-2026/protocol.ts'
import type { McpService } from './service.ts'

/** Answers an HTTP request whose body has been read. */
export type Serve = (request: IncomingMessage, response: ServerResponse, body: unknown) => Promise<void>

interface McpHttpOptions {
  readonly context: TransportContext
  /** The path, with its parameters. */
  readonly path: string
  /** The service at the path. Throws Failure if there is none. */
  readonly serviceOf: (
    params: Readonly<Record<string, string>>,
    caller: McpCaller,
  ) => McpService | ForwardedService | Promise<McpService | ForwardedService>
  readonly allowsOrigin: AllowsOrigin
  readonly onError: (fault: unknown) => void
  /** Aborts when the server stops: subscriptions end then. */
  readonly ending?: AbortSignal
  /**
   * Loads the handler for legacy protocol versions and for the remaining methods of 2026-07-28; when absent, the SDK
   * without sessions.
   */
  readonly load?: () => Promise<Serve>
}

/** MCP over Streamable HTTP, stateless, for all supported protocol versions. */
export function mcpMounts(options: McpHttpOptions): Mount[] {
  const { context, path, serviceOf, allowsOrigin } = options
  const loaded = new WeakMap<McpService, Promise<Serve>>()

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    assertOrigin(request, allowsOrigin)
    const principal = await identify(context, request)
    const body =
      request.method === 'POST' ? readMessage(await readBody(request, principal), principal) : undefined
    const caller: McpCaller = {
      client: clientOf(context, request),
      identify: () => identify(context, request),
    }
    const service = await serviceOf(paramsOf(request), caller)
    const takes = 'legacy' in service ? isModern : service.modern.takes
    if (isMessage(body) && isRequest(body) && takes(body, request.headers)) {
      await serveExchange(context, service.modern, caller, body, request, response)
      return
    }
    if ('legacy' in service) {
      await serveLegacy(context, service.legacy, caller, body, request, response)
      return
    }
    if (request.method !== 'POST' && !options.load) return refuseMethod(request, response)
    const { method, params } = isMessage(body) && isRequest(body) ? body : {}
    const failure = method === 'tools/call' ? service.refusal(params ?? {}, principal) : undefined
    if (failure) {
      refuseRequest(context, request, response, failure, requestId(request), (body as McpRequest).id)
      return
    }
    context.limits.charge({ principal, client: caller.client }, costs.sdkRequest)
    if (options.ending?.aborted) throw new Failure('unavailable', 'The gateway is shutting down.')
    const loading = loaded.get(service) ?? options.load?.() ?? load(service, options)
    loaded.set(service, loading)
    const rest = await loading
    await rest(Object.assign(request, { auth: authInfo(principal, caller) }), response, body)
  }

  const handler: Handler = async (request, response) => {
    try {
      await serve(request, response)
    } catch (thrown) {
      if (thrown instanceof Fault) send(request, response, thrown.status, faultText(thrown, null), json)
      else refuseRequest(context, request, response, thrown, requestId(request))
    }
  }
  return (['get', 'post', 'delete'] as const).map((method) => ({
    method,
    path,
    handler,
    ...(!path.includes(':') && { direct: path }),
  }))
}

/** There are no sessions, so there is nothing to read by GET and nothing to end by DELETE. */
function refuseMethod(request: IncomingMessage, response: ServerResponse): void {
  const data = { hint: 'Connect an MCP client to this URL, or send a message of MCP by POST.' }
  const error = { code: -32000, message: `This path takes POST, not ${request.method}.`, data }
  send(request, response, 405, JSON.stringify({ jsonrpc: '2.0', error, id: null }), {
    ...json,
    Allow: 'POST',
  })
}

/** Set by Express; absent on a path that skips Express. */
function paramsOf({ params = {} }: IncomingMessage & { readonly params?: Readonly<Record<string, string>> }) {
  return params
}

const json = { 'Content-Type': 'application/json' }

/** Throws Fault -32700 for a body that is not JSON, -32600 for one that is nested too deep, -32013 for too many values. */
function readMessage(bytes: Buffer, principal: Principal | null): unknown {
  const value = judged(parseError, () => parseBody(bytes, principal))
  judged(invalidRequest, () => assertPlainMessage(value))
  return value
}

function judged<Result>(code: number, judge: () => Result): Result {
  try {
    return judge()
  } catch (thrown) {
    const failure = Failure.from(thrown)
    const { http, rpc } = codes[failure.code]
    const number = failure.code === 'invalid_request' ? code : rpc
    throw new Fault(number, failure.message, { status: http, data: problem(failure, randomUUID()) })
  }
}

async function load(service: McpService, { onError, ending }: McpHttpOptions): Promise<Serve> {
  const [{ createMcpHandler }, { toNodeHandler }, createServer] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/node'),
    service.load(),
  ])
  const handler = createMcpHandler(
    ({ authInfo, era }) => createServer(authInfo?.extra?.caller as McpCaller, { era, lasting: false }),
    { onerror: onError },
  )
  service.onListed(() => handler.notify.resourcesChanged())
  const close = () => void handler.close().catch(onError)
  const serve = toNodeHandler(handler, { onerror: onError }) as Serve
  return (request, response, body) => {
    // Listeners are removed after each request, so that services of deleted agents can be garbage-collected.
    const end = () => close()
    ending?.addEventListener('abort', end, { once: true })
    response.once('close', () => ending?.removeEventListener('abort', end))
    return serve(request, response, body)
  }
}

/** The SDK passes this to the factory unchanged. */
function authInfo(principal: Principal | null, caller: McpCaller): unknown {
  return {
    token: '',
    clientId: principal?.subject ?? 'anonymous',
    scopes: [...(principal?.scopes ?? [])],
    extra: { caller },
  }
}
