import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { retryAfter } from '../../common/retry-after.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import { failureOfProblem, failureOfStatus, notCallable, textOf, wantsCredential } from '../refusal.ts'
import { codeOfReason } from './answer.ts'

/** Errors by which an agent says that it speaks another version, or is none of A2A (JSON-RPC method not found). */
const otherVersion = new Set(['VERSION_NOT_SUPPORTED', 'METHOD_NOT_FOUND'])
/** The agent's own trouble, which counts against it. */
const trouble = new Set(['INTERNAL_ERROR', 'INVALID_AGENT_RESPONSE', 'UNAVAILABLE'])

/** What the SDK threw, sorted. */
export type Fault =
  | { readonly kind: 'broken'; readonly failure: Failure }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'version'; readonly failure: Failure }

/** `who` is named; the error's text is shown as far as the agent wrote it. */
export function faultOf(thrown: unknown, who: string): Fault {
  const failure = failureIn(thrown)
  if (failure) {
    return { kind: wantsCredential(failure) ? 'refused' : 'broken', failure: notCallable(failure) }
  }
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const reason = reasonOf(error)
  if (reason === undefined) {
    const message = `${who} answers what is not A2A.`
    return { kind: 'broken', failure: new Failure('upstream_invalid', message, {}, error) }
  }
  const message = textOf(error.message) ?? `${who} refused.`
  const details = { upstream: { code: reason } }
  if (otherVersion.has(reason)) {
    return { kind: 'version', failure: new Failure('upstream_invalid', message, details, error) }
  }
  const own = codeOfReason(reason)
  const problem = own && failureOfProblem({ code: own, detail: message }, { who })
  if (problem) return { kind: 'refused', failure: problem }
  if (trouble.has(reason)) {
    return { kind: 'broken', failure: new Failure('upstream_failed', message, details, error) }
  }
  const code = invalid.has(reason)
    ? 'invalid_request'
    : reason === 'TASK_NOT_FOUND'
      ? 'not_found'
      : 'upstream_failed'
  return { kind: 'refused', failure: new Failure(code, message, details, error) }
}

const invalid = new Set(['INVALID_PARAMS', 'CONTENT_TYPE_NOT_SUPPORTED'])

const standard: Readonly<Record<number, string>> = {
  [-32600]: 'INVALID_REQUEST',
  [-32601]: 'METHOD_NOT_FOUND',
  [-32602]: 'INVALID_PARAMS',
  [-32603]: 'INTERNAL_ERROR',
  [-32700]: 'INVALID_REQUEST',
}

/** By which word an error of A2A goes; undefined for what is none. */
function reasonOf(error: Error): string | undefined {
  const { reason, envelopeCode, code } = error as { reason?: unknown; envelopeCode?: unknown; code?: unknown }
  const number = [envelopeCode, code].find((one) => typeof one === 'number')
  if (number !== undefined && standard[number]) return standard[number]
  if (error.name === 'RequestMalformedError') return 'INVALID_PARAMS'
  return typeof reason === 'string' ? reason : undefined
}

const longestRefusal = 64 * 1024

/** Answers of HTTP that are none of A2A become Failures here; the SDK would put them into words. */
export function checked(
  fetch: typeof globalThis.fetch,
  who: string,
  clock: () => number,
): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    const { status, headers } = answer
    if (answer.ok) return answer
    const text = await beginning(answer)
    const body = parse(text)
    // An error of JSON-RPC or of the REST binding (AIP-193) is the SDK's to read.
    if (isRecord(body) && isRecord(body.error)) return new Response(text, { status, headers })
    const refused = {
      who,
      status,
      retry_after_s: retryAfter(headers.get('retry-after') ?? undefined, clock()),
    }
    throw failureOfProblem(body, refused) ?? failureOfStatus(status, refused)
  }
}

/** As much of a body as a refusal may be; the rest is not waited for. */
async function beginning({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestRefusal) break
  }
  return text.slice(0, longestRefusal)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
