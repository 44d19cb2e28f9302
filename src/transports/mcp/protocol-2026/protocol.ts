import type { IncomingHttpHeaders } from 'node:http'
import type { Failure } from '../../../../schemas/failure.ts'
import type { Principal } from '../../../../schemas/scope.ts'
import type { McpId, McpRequest } from '../../../common/mcp/message.ts'
import { versionKey } from '../../../common/mcp/protocol.ts'
import type { Call } from '../../../router/call.ts'
import { Fault, faultText, internalFault, unknownMethod } from './fault.ts'
import { assertAgreement, assertHeaders, isModern } from './headers.ts'
import { assertVersion, type Meta, readMeta } from './meta.ts'

/** The caller; identified again for each call. */
export interface McpCaller {
  readonly client: Call['client']
  identify(): Principal | null | Promise<Principal | null>
  /** True if the user lets the model of this client change what is stored here. */
  readonly manages?: boolean
  /** A text of this gateway with its commands as the user of this client types them; absent where nobody knows. */
  readonly asTyped?: (text: string) => string
  /** The failure of a caller whose requests have cost too much; absent where each request is checked before it is read. */
  readonly overCost?: () => Failure | undefined
}

/** One request in progress, as its transport provides it. */
export interface Exchange {
  readonly caller: McpCaller
  /** Aborts when the caller cancels or disconnects; after that, nothing is sent. */
  readonly signal: AbortSignal
  /** True if the transport itself can ask for a token or a scope: HTTP, with 401 and 403. */
  readonly challenges?: boolean
  /** Sends a notification that belongs to this request; resolves when the caller can take more. */
  notify(method: string, params: object): Promise<void>
}

/** Returns the result of one method as JSON text. Throws Fault; any other error is internal. */
export type McpMethod = (
  params: Readonly<Record<string, unknown>>,
  exchange: Exchange & { readonly meta: Meta; readonly id: McpId },
) => string | Promise<string>

interface ModernOptions {
  readonly methods: Readonly<Record<string, McpMethod>>
  readonly onError: (fault: unknown) => void
}

/** The text of a JSON-RPC response; `status` is its HTTP status. */
interface Answer {
  readonly status: number
  readonly text: string
  /** The failure of the call, if there is one. */
  readonly failure?: Failure
}

/** MCP 2026-07-28 for every transport. */
export interface Modern {
  /** True for a request of this protocol version. */
  takes(request: McpRequest, headers?: IncomingHttpHeaders): boolean
  /** Never throws. `headers` are those of the HTTP request, if there was one. */
  answer(request: McpRequest, exchange: Exchange, headers?: IncomingHttpHeaders): Promise<Answer>
}

/** Checks in the order of precedence: `_meta`, headers against body, protocol version, headers, method, params. */
export function createModern({ methods, onError }: ModernOptions): Modern {
  const methodsByName = new Map(Object.entries(methods))

  async function resultOf(request: McpRequest, exchange: Exchange, headers?: IncomingHttpHeaders) {
    const meta = readMeta(request.params)
    if (headers) assertAgreement(request, meta, headers)
    assertVersion(meta[versionKey])
    if (headers) assertHeaders(request, headers)
    const method = methodsByName.get(request.method)
    if (!method) throw unknownMethod(request.method, methodsByName.keys())
    return await method(request.params ?? {}, { ...exchange, meta, id: request.id })
  }

  return {
    // The header does not make one of `initialize`, which is of the versions before.
    takes: (request, headers) => isModern(request, request.method === 'initialize' ? undefined : headers),
    async answer(request, exchange, headers) {
      try {
        const result = await resultOf(request, exchange, headers)
        return {
          status: 200,
          text: `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":${result}}`,
        }
      } catch (thrown) {
        if (!(thrown instanceof Fault)) onError(thrown)
        const fault = thrown instanceof Fault ? thrown : internalFault()
        const { status, failure } = fault
        return { status, text: faultText(fault, request.id), ...(failure && { failure }) }
      }
    },
  }
}
