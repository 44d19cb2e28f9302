import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { RpcError } from '../../common/mcp/message.ts'
import { UpgradeRefused } from '../../common/mcp/socket-errors.ts'
import { translate } from '../../net/fetch/translate-error.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import { connectionClosed, failureOfProblem, failureOfStatus, quoted, textOf } from '../refusal.ts'
import type { McpExchange } from './exchange.ts'
import type { Sdk } from './sdk.ts'

const who = 'The agent'

/** The error that ended an exchange as the Failure that the caller sees. `caller` is the signal of the call. */
export function failureOf(thrown: unknown, exchange: McpExchange, caller: AbortSignal, sdk: Sdk): Failure {
  if (caller.aborted) return Failure.cancelled(caller)
  const own = failureIn(thrown)
  if (own) return own
  const rpc = rpcErrorIn(thrown, sdk)
  if (rpc?.data instanceof Failure) return rpc.data
  if (rpc) return failureOfRpc(rpc)
  if (exchange.failure) return exchange.failure
  if (exchange.refused) return failureOfStatus(exchange.refused.status, { ...exchange.refused, who })
  if (thrown instanceof UpgradeRefused) {
    const { status, retry_after_s } = thrown
    return failureOfStatus(status, { who, retry_after_s })
  }
  if (thrown instanceof sdk.SdkError) return failureOfSdk(thrown.code, thrown.message, thrown)
  if (isNetworkError(thrown)) return translate(thrown, who, caller, { has_passed: false })
  // A bug in this code is not the server's fault; a TypeError with a code is Node's, about a value.
  const isBug = thrown instanceof ReferenceError || (thrown instanceof TypeError && !('code' in thrown))
  if (isBug) return Failure.from(thrown)
  const reason = thrown instanceof Error ? ` ${textOf(thrown.message) ?? ''}` : ''
  return new Failure('upstream_invalid', `The agent's answer cannot be read.${reason}`, {}, thrown)
}

/** The connection ended while a request waited: the server may have done its work. */
export function closedBeforeAnswer(cause?: unknown): Failure {
  const details = { upstream: { code: connectionClosed } }
  return new Failure('upstream_failed', 'The connection closed before the answer.', details, cause)
}

/** Network errors have a string code; so has the error for an invalid URL. */
function isNetworkError(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    typeof thrown.code === 'string' &&
    thrown.code !== 'ERR_INVALID_URL'
  )
}

/** An error before the call was sent counts against the server, whatever its code. */
export function ofServer(failure: Failure): Failure {
  if (!['invalid_request', 'unknown_action'].includes(failure.code)) return failure
  return new Failure('upstream_failed', failure.message, {}, failure)
}

/** The JSON-RPC error of an answer, from the protocol or from the body of an HTTP error. */
export function rpcErrorIn(thrown: unknown, sdk: Sdk): RpcError | undefined {
  if (thrown instanceof sdk.ProtocolError) return thrown
  if (!(thrown instanceof sdk.SdkHttpError) || !isAboutRequest(thrown.status)) return undefined
  return rpcErrorOf(thrown.data.text)
}

/** The JSON-RPC error in a body. */
export function rpcErrorOf(text: unknown) {
  if (typeof text !== 'string') return undefined
  try {
    const body: unknown = JSON.parse(text)
    const error = isRecord(body) ? body.error : undefined
    if (!isRecord(error) || typeof error.code !== 'number' || typeof error.message !== 'string')
      return undefined
    return { code: error.code, message: error.message, data: error.data }
  } catch {
    return undefined
  }
}

function isAboutRequest(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 429].includes(status)
}

function failureOfSdk(code: string, message: string, cause: unknown): Failure {
  if (code === 'CONNECTION_CLOSED' || code === 'NOT_CONNECTED' || code === 'SEND_FAILED') {
    return closedBeforeAnswer(cause)
  }
  if (isOtherContent(cause)) {
    const words =
      'The agent answered with something else than JSON or events: its address may be no endpoint of MCP.'
    return new Failure('upstream_invalid', words, {}, cause)
  }
  return new Failure('upstream_invalid', textOf(message) ?? 'The answer cannot be read.', {}, cause)
}

/** An answer that is neither JSON nor a stream of events, also to the first request of a connection. */
function isOtherContent(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const isThis = 'code' in thrown && thrown.code === 'CLIENT_HTTP_UNEXPECTED_CONTENT'
  return isThis || isOtherContent(thrown.cause)
}

const unknownTool = /unknown tool|no such tool|there is no tool|tool\b.{0,300}?\bnot found|not a known tool/is

/** True if a failed call says that there is no such tool: some servers have no error code for it. */
export function saysUnknownTool(detail: string, tool: string): boolean {
  return (
    detail.length <= tool.length + maxUnknownToolWords && detail.includes(tool) && unknownTool.test(detail)
  )
}

/** Characters around the name of an unknown tool; a longer text reports something else. */
const maxUnknownToolWords = 60

/** URLElicitationRequiredError of 2025-11-25: the client visits the addresses in its data, then calls again. */
export const visitsRequired = -32042
/** Error codes of MCP that concern one call: resource not found, and URL elicitation required. */
const aboutCall = new Set([-32002, visitsRequired])

/**
 * True for an error code of the server's own for one call; the codes that JSON-RPC reserves (5.1) mean a broken
 * server.
 */
export function isCallError(code: number): boolean {
  return Number.isInteger(code) && (code > -32000 || code < -32768 || aboutCall.has(code))
}

/** What to open before the call is repeated; undefined if the error names no address that the client may be shown. */
function visitsIn(data: unknown): string | undefined {
  const stated = isRecord(data) && Array.isArray(data.elicitations) ? data.elicitations.filter(isRecord) : []
  return textOf(stated.map(({ url, message }) => `Open ${url} in a browser. ${message}`).join(' '))
}

/** A JSON-RPC error as a Failure; the addresses to visit in its data are checked. */
export function failureOfRpc({ code, message, data }: RpcError): Failure {
  const problem = failureOfProblem(data, { who: 'The agent' })
  if (problem) return problem
  if (code === visitsRequired) {
    const visits = visitsIn(data)
    const details = { upstream: { code: String(code) }, retryable: false }
    if (visits)
      return new Failure('upstream_failed', visits, { ...details, hint: 'Repeat the call after that.' })
  }
  const detail = quoted(message) ?? `The agent answered with error ${code}.`
  if (code === -32601) return new Failure('unknown_action', detail)
  if (code === -32602)
    return new Failure(unknownTool.test(detail) ? 'unknown_action' : 'invalid_request', detail)
  return new Failure('upstream_failed', detail, {
    upstream: { code: String(code) },
    ...(isCallError(code) && { retryable: false }),
  })
}
