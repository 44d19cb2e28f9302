import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { handedOver, isInterrupted } from '../../../schemas/task.ts'
import { linkSignals } from '../../common/abort.ts'
import type { Wait } from '../../common/clock.ts'
import { backoff } from '../../common/retry.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import type { RemoteAnswer, RemoteCall } from '../remote-agent.ts'
import { answerOf, type ReceivedTask, readTask } from './answer.ts'
import type { A2aClient, OutgoingMessage, RequestOptions } from './client.ts'
import { TaskTracker, updateOf } from './task-tracker.ts'

const pollPauses = { first_ms: 250, max_ms: 4_000 }
/** A task whose stream is silent for so long is asked for: its agent may work without a word. Less than the idle limit. */
const silence_ms = 15_000
const cancelTimeout_ms = 5_000
/** Polls of a task that fail in a row before the call fails, within some 45 s: an agent may start anew. */
const maxFailedPolls = 15

type Caller = Pick<RemoteCall, 'emit' | 'onActivity' | 'onTask'>

/**
 * Sends a message and waits for its answer: by the stream if the agent streams, and by a new stream of the task if the
 * first one breaks or ends too early; otherwise, or if the agent is silent, by polling. Aborting the call cancels the
 * task.
 */
export async function follow(
  client: A2aClient,
  message: OutgoingMessage,
  options: RequestOptions,
  caller: Caller,
  wait: Wait,
): Promise<RemoteAnswer> {
  const tracker = new TaskTracker(message.task_id !== undefined)
  async function* events(within: RequestOptions): AsyncGenerator<object> {
    let isBroken = false
    try {
      yield* client.send(message, within)
    } catch (thrown) {
      isBroken = !within.signal.aborted && tracker.task !== undefined && isBrokenStream(thrown)
      if (!isBroken) throw thrown
    }
    const { task } = tracker
    // A stream that breaks may have told nothing but the question that the message answers.
    if (task && (isBroken || !answerOf(task))) yield* eventsOf(client, task.id, within)
  }
  return await untilAnswer(client, events, options, caller, tracker, wait)
}

/**
 * Waits for the answer of a task that the agent works on already: by a stream of its events if the agent streams;
 * otherwise, or if the agent refuses the stream or ends it, by polling. Aborting the call cancels the task.
 */
export async function followTask(
  client: A2aClient,
  id: string,
  options: RequestOptions,
  caller: Caller,
  wait: Wait,
): Promise<RemoteAnswer> {
  const tracker = new TaskTracker(false)
  // The id is known before the agent says a word.
  tracker.take({ task: { id, status: {} } })
  return await untilAnswer(client, (within) => eventsOf(client, id, within), options, caller, tracker, wait)
}

/** The answer in the events, or else the one that polling brings. */
async function untilAnswer(
  client: A2aClient,
  events: (within: RequestOptions) => AsyncIterable<object>,
  options: RequestOptions,
  caller: Caller,
  tracker: TaskTracker,
  wait: Wait,
): Promise<RemoteAnswer> {
  const stream: StreamState = { events: 0, isTaken: true }
  using streaming = linkSignals(options.signal)
  const within = { ...options, signal: streaming.signal }
  try {
    const answer = await Promise.race([
      readStream(events(within), caller, tracker, stream),
      askWhileSilent(client, within, caller, tracker, stream, wait),
    ])
    const { task } = tracker
    if (answer) return await withOutput(answer, client, task, within)
    if (!task) throw new Failure('upstream_invalid', 'The agent ended its stream without an answer.')
    return answerOf(task) ?? (await poll(client, task, options, caller, stream, wait))
  } catch (thrown) {
    const { task } = tracker
    if (task) cancelAborted(client, task.id, options)
    throw thrown
  } finally {
    streaming.abort()
  }
}

/**
 * The task as it is, and its events from then on. Ends if the agent refuses or breaks the stream, or does not begin it
 * with the task: then it is unclear what came before.
 */
async function* eventsOf(client: A2aClient, id: string, options: RequestOptions): AsyncGenerator<object> {
  let isWhole = false
  try {
    for await (const event of client.subscribe?.(id, options) ?? []) {
      isWhole ||= 'task' in event
      if (!isWhole) return
      yield event
    }
  } catch (thrown) {
    if (options.signal.aborted) throw thrown
  }
}

/** Some agents stream that a task has ended, but not what it has made: the task itself has it. */
async function withOutput(
  answer: RemoteAnswer,
  client: A2aClient,
  task: ReceivedTask | undefined,
  options: RequestOptions,
): Promise<RemoteAnswer> {
  if (!('output' in answer) || answer.output !== null || !task) return answer
  const whole = await client.task(task.id, options).then(readTask, () => undefined)
  return (whole && answerOf(whole)) ?? answer
}

interface StreamState {
  /** The number of events so far, changes that polling found among them. */
  events: number
  /** True if the caller has taken them all. */
  isTaken: boolean
}

/** The answer in the stream; undefined if the stream ended. */
async function readStream(
  events: AsyncIterable<object>,
  { emit, onActivity, onTask }: Caller,
  tracker: TaskTracker,
  stream: StreamState,
): Promise<RemoteAnswer | undefined> {
  for await (const value of events) {
    onActivity()
    const event = value as JsonObject
    const answer = tracker.take(event)
    if (answer) return answer
    if (stream.events === 0) onTask?.()
    stream.events += 1
    stream.isTaken = false
    await emit(updateOf(event, stream.events), { protocol: 'a2a', event })
    stream.isTaken = true
  }
  return undefined
}

/**
 * Asks for the task while its stream is silent: an agent that knows the task still works, which is a word of it. Ends
 * with the answer that a dead stream did not bring.
 */
async function askWhileSilent(
  client: A2aClient,
  options: RequestOptions,
  { onActivity }: Caller,
  tracker: TaskTracker,
  stream: StreamState,
  wait: Wait,
): Promise<RemoteAnswer> {
  for (;;) {
    const before = stream.events
    await wait(silence_ms, options.signal)
    const { task } = tracker
    if (!task || !stream.isTaken || stream.events !== before) continue
    const now = await client.task(task.id, options).then(readTask, () => undefined)
    if (!now || stream.events !== before) continue
    onActivity()
    // The question that a message answers is no answer to that message.
    const answer = isInterrupted(now.state) && isInterrupted(task.state) ? undefined : answerOf(now)
    if (answer) return answer
  }
}

/** Polls the task until it has ended, and tells each change. */
async function poll(
  client: A2aClient,
  { id, whole }: Pick<ReceivedTask, 'id' | 'whole'>,
  options: RequestOptions,
  { emit, onActivity, onTask }: Caller,
  stream: StreamState,
  wait: Wait,
): Promise<RemoteAnswer> {
  let previous = JSON.stringify(whole)
  let failed = 0
  for (let attempt = 1; ; attempt++) {
    await wait(backoff(attempt, pollPauses), options.signal)
    const task = await client.task(id, options).then(readTask, (thrown: unknown) => {
      failed++
      if (options.signal.aborted || failed === maxFailedPolls || !isNetworkError(thrown)) throw thrown
    })
    if (!task) continue
    failed = 0
    onActivity()
    onTask?.()
    const answer = answerOf(task)
    if (answer) return answer
    const now = JSON.stringify(task.whole)
    if (now === previous) continue
    previous = now
    stream.events += 1
    const event = { task: task.whole }
    await emit(updateOf(event, stream.events), { protocol: 'a2a', event })
  }
}

/** The agent could not be reached; its task may go on. */
function isNetworkError(thrown: unknown): boolean {
  const failure = failureIn(thrown)
  return failure?.code === 'upstream_failed' && failure.details.upstream?.status === undefined
}

/** A stream that was cut off, or in which not a byte came for long: its agent may answer all the same when it is asked. */
function isBrokenStream(thrown: unknown): boolean {
  return isNetworkError(thrown) || failureIn(thrown)?.details.upstream?.code === 'UND_ERR_BODY_TIMEOUT'
}

/** Cancels the task of an aborted call, unless another process continues it. Does not wait: no caller needs the result. */
function cancelAborted(client: A2aClient, id: string, { headers, signal: caller }: RequestOptions): void {
  if (!caller.aborted || caller.reason === handedOver) return
  const signal = AbortSignal.timeout(cancelTimeout_ms)
  client.cancel(id, { headers, signal }).catch(() => {})
}
