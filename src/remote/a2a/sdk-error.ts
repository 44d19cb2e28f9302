import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { parseJson } from '../../common/json.ts'
import { retryAfter } from '../../common/retry-after.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import { failureOfProblem, failureOfStatus, notCallable, quoted, wantsCredential } from '../refusal.ts'
import { codeOfReason } from './answer.ts'

/** Reasons that mean that the agent speaks another version. JSON-RPC has only method not found for this. */
const otherVersion = new Set(['VERSION_NOT_SUPPORTED', 'METHOD_NOT_FOUND'])
/**
 * Errors of the agent itself; they count against it. The internal error of JSON-RPC is none: SDKs answer so for work that
 * throws, as those of MCP do for a tool.
 */
const serverErrors = new Set(['INTERNAL', 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE'])

/** An error that the SDK threw: the agent is broken, it refuses the call, or it speaks another version. */
export interface ClassifiedError {
  readonly kind: 'broken' | 'refused' | 'version'
  readonly failure: Failure
}

/** `who` names the agent in our own texts; a text that the agent wrote is passed on. */
export function classify(thrown: unknown, who: string): ClassifiedError {
  const failure = failureIn(thrown)
  if (failure) {
    return { kind: wantsCredential(failure) ? 'refused' : 'broken', failure: notCallable(failure) }
  }
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const reason = reasonOf(error)
  if (reason === undefined) {
    const message = `${who} did not answer in A2A.`
    return { kind: 'broken', failure: new Failure('upstream_invalid', message, {}, error) }
  }
  const message = quoted(error.message) ?? `${who} refused.`
  const details = { upstream: { code: reason } }
  if (otherVersion.has(reason)) {
    const explained =
      reason === 'METHOD_NOT_FOUND'
        ? `${who} does not speak A2A at its address, or no version that this gateway speaks: ${message}`
        : message
    return { kind: 'version', failure: new Failure('upstream_invalid', explained, details, error) }
  }
  const ownCode = codeOfReason(reason)
  const problem = ownCode && failureOfProblem({ code: ownCode, detail: message }, { who })
  if (problem) return { kind: 'refused', failure: problem }
  if (serverErrors.has(reason)) {
    return { kind: 'broken', failure: new Failure('upstream_failed', message, details, error) }
  }
  const code = invalidParams.has(reason)
    ? 'invalid_request'
    : reason === 'TASK_NOT_FOUND'
      ? 'not_found'
      : 'upstream_failed'
  return { kind: 'refused', failure: new Failure(code, message, { ...details, retryable: false }, error) }
}

const invalidParams = new Set(['INVALID_PARAMS', 'CONTENT_TYPE_NOT_SUPPORTED'])

/** Reasons for the error codes that JSON-RPC reserves. */
const reservedCodes: Readonly<Record<number, string>> = {
  [-32600]: 'INVALID_REQUEST',
  [-32601]: 'METHOD_NOT_FOUND',
  [-32602]: 'INVALID_PARAMS',
  [-32603]: 'INTERNAL_ERROR',
  [-32700]: 'INVALID_REQUEST',
}

/** The reason of an A2A error; undefined for other errors. */
function reasonOf(error: Error): string | undefined {
  const { reason, envelopeCode, code } = error as { reason?: unknown; envelopeCode?: unknown; code?: unknown }
  const number = [envelopeCode, code].find((value) => typeof value === 'number')
  if (number !== undefined && reservedCodes[number]) return reservedCodes[number]
  if (error.name === 'RequestMalformedError') return 'INVALID_PARAMS'
  return typeof reason === 'string' ? reason : undefined
}

const maxErrorCharacters = 64 * 1024

/** Turns HTTP errors that are not A2A errors into Failures; the SDK would turn them into plain text. */
export function withHttpErrors(
  fetch: typeof globalThis.fetch,
  who: string,
  clock: () => number,
): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    const { status, headers } = answer
    if (answer.ok) return answer
    const text = await readStart(answer)
    const body = parseJson(text)
    // The SDK reads errors of JSON-RPC and of the REST binding (AIP-193), without the challenge of the answer.
    const isChallenge = status === 401 || headers.has('www-authenticate')
    if (!isChallenge && isRecord(body) && isRecord(body.error)) return new Response(text, { status, headers })
    const refused = {
      who,
      status,
      retry_after_s: retryAfter(headers.get('retry-after') ?? undefined, clock()),
      challenge: headers.get('www-authenticate') ?? undefined,
    }
    throw failureOfProblem(body, refused) ?? failureOfStatus(status, refused)
  }
}

/** The first characters of an error body; the rest is not read. */
async function readStart({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > maxErrorCharacters) break
  }
  return text.slice(0, maxErrorCharacters)
}
