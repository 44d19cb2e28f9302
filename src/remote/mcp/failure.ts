import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { UpgradeRefused } from '../../common/mcp/socket-errors.ts'
import { translate } from '../../net/fetch/translate-error.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import { failureOfStatus, textOf } from '../refusal.ts'
import type { Exchange } from './exchange.ts'
import { failureOfRpc } from './problem.ts'
import type { Sdk } from './sdk.ts'

const who = 'The agent'

/** What an exchange was ended by, as the Failure that its caller sees. `caller` is the signal of the call. */
export function failureOf(thrown: unknown, exchange: Exchange, caller: AbortSignal, sdk: Sdk): Failure {
  if (caller.aborted) {
    return caller.reason instanceof Failure
      ? caller.reason
      : new Failure('cancelled', 'The caller went away.', {}, thrown)
  }
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
  if (isOfNetwork(thrown)) return translate(thrown, 'The agent', caller, { has_passed: false })
  // A mistake of ours is not the other side's; Node gives a code to what is wrong with a value.
  const isMistake = thrown instanceof ReferenceError || (thrown instanceof TypeError && !('code' in thrown))
  if (isMistake) return Failure.from(thrown)
  const words = thrown instanceof Error ? ` ${textOf(thrown.message) ?? ''}` : ''
  return new Failure('upstream_invalid', `The agent's answer cannot be read.${words}`, {}, thrown)
}

/** Errors of sockets have a code as a text; so has the one for what was to be an address and is none. */
function isOfNetwork(thrown: unknown): boolean {
  return (
    thrown instanceof Error &&
    'code' in thrown &&
    typeof thrown.code === 'string' &&
    thrown.code !== 'ERR_INVALID_URL'
  )
}

/** What went wrong before anything was asked: the other side's affair, whatever number it gave that. */
export function ofServer(failure: Failure): Failure {
  if (!['invalid_request', 'unknown_action'].includes(failure.code)) return failure
  return new Failure('upstream_failed', failure.message, {}, failure)
}

/** The JSON-RPC error that was answered, as such or in the body of an HTTP error. */
function rpcErrorIn(thrown: unknown, sdk: Sdk) {
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
    return new Failure('upstream_failed', 'The connection closed before the answer.', {}, cause)
  }
  if (code === 'UNSUPPORTED_RESULT_TYPE') {
    const detail =
      'The agent asks for more than its params before it answers (input_required), which is not passed on.'
    return new Failure('upstream_invalid', detail, {}, cause)
  }
  return new Failure('upstream_invalid', textOf(message) ?? 'The answer cannot be read.', {}, cause)
}
