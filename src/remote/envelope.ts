import { isSpoken } from '../../schemas/callable.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import { listedActions } from '../../schemas/names.ts'
import { inputRequiredIn } from '../../schemas/task.ts'
import { retryAfter } from '../common/retry-after.ts'
import type { Fetch, FetchResponse } from '../net/fetch/fetch.ts'
import { failureOfProblem, failureOfStatus, notCallable, wantsCredential } from './refusal.ts'
import type { Connect, RemoteAgent, RemoteAnswer } from './remote-agent.ts'

/** Maximum size of one message. */
const maxAnswerBytes = 1024 * 1024
/** An action that no agent has, so that a call to it has no effect. */
const unknownAction = 'dragoman.probe'

/** Agents that take the envelope `{to, action, params}` over HTTP. */
export function createEnvelopeConnect(fetch: Fetch, clock: () => number): Connect {
  return (endpoint, { address }) => {
    const { protocol, url } = endpoint
    if (protocol !== 'envelope' || !isSpoken(endpoint)) return undefined
    const who = new URL(url).host

    async function send(
      action: string,
      params: object,
      headers: Record<string, string>,
      signal: AbortSignal,
    ) {
      const body = JSON.stringify({ to: address, action, params })
      const requestHeaders = { ...headers, accept: 'application/json', 'content-type': 'application/json' }
      return await fetch({
        url,
        method: 'POST',
        headers: requestHeaders,
        body,
        signal,
        max_bytes: maxAnswerBytes,
        timeout_ms: 'none',
        same_origin_only: true,
      }).catch((thrown) => {
        if (!(thrown instanceof Failure)) throw thrown
        if (thrown.code !== 'too_large') throw notCallable(thrown)
        throw new Failure('upstream_invalid', `${who}: ${thrown.message}`, { retryable: false })
      })
    }

    return {
      async call(action, params, { headers, signal, task }) {
        if (!task) return read(who, await send(action, params, headers, signal), clock)
        const continuation = { task_id: task.task_id, input: params }
        return read(who, await send(listedActions.continuation, continuation, headers, signal), clock)
      },
      async probe({ headers, signal }) {
        const answer = read(who, await send(unknownAction, {}, headers, signal), clock)
        return 'refused' in answer ? answer.refused : undefined
      },
      async [Symbol.asyncDispose]() {},
    } satisfies RemoteAgent
  }
}

/** Reads the answer. Throws Failure for an answer that counts against the agent. */
function read(who: string, answer: FetchResponse, clock: () => number): RemoteAnswer {
  const { status, headers } = answer
  if (status === 204) return { output: null }
  const value = parse(answer)
  if (status >= 200 && status < 300) {
    if (value !== undefined) return inputRequest(value) ?? { output: value }
    throw new Failure('upstream_invalid', `${who} did not answer with JSON.`, { upstream: { status } })
  }
  const context = {
    who,
    status,
    retry_after_s: retryAfter(headers['retry-after'], clock()),
    challenge: headers['www-authenticate'],
  }
  const failure = failureOfProblem(value, context)
  if (failure && status < 500 && status !== 429) return { refused: failure }
  const error = failure ?? failureOfStatus(status, context)
  if (wantsCredential(error)) return { refused: error }
  throw error
}

/** `input_required` of another gateway, or of an agent that answers in the same form. */
function inputRequest(value: Json): RemoteAnswer | undefined {
  const required = inputRequiredIn(value)
  return required && { task: { task_id: required.task_id }, question: required.question }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parse({ body }: FetchResponse): Json | undefined {
  try {
    return JSON.parse(decoder.decode(body))
  } catch {
    return undefined
  }
}
