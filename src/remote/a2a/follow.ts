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
 * Sends a message and waits for its answer: by the stream if the agent streams; otherwise, or if the stream ends too
 * early, breaks or is silent, by polling the task. Aborting the call cancels the task.
 */
export async function follow(
  client: A2aClient,
  message: OutgoingMessage,
  options: RequestOptions,
  caller: Caller,
  wait: Wait,
): Promise<RemoteAnswer> {
  const tracker = new TaskTracker(message.task_id !== undefined)
  return await untilAnswer(client, (within) => client.send(message, within), options, caller, tracker, wait)
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
      readStream(events(within), within, caller, tracker, stream),
      askWhileSilent(client, within, caller, tracker, stream, wait),
    ])
    if (answer) return answer
    const { task } = tracker
    if (!task) throw new Failure('upstream_invalid', 'The agent ended its stream without an answer.')
    return answerOf(task) ?? (await poll(client, task, options, caller, wait))
  } catch (thrown) {
    const { task } = tracker
    if (task) cancelAborted(client, task.id, options)
    throw thrown
  } finally {
    streaming.abort()
  }
}

/**
 * The task as it is, and the events of its stream. The stream is opened before the task is read, so that nothing is
 * lost in between. Where the stream does not begin with the task, as of some agents of A2A 0.3, it is unclear what
 * of it the task contains already: then each event stands for the task, read anew. Ends if the stream does, or if the
 * agent refuses or breaks it.
 */
async function* eventsOf(client: A2aClient, id: string, options: RequestOptions): AsyncGenerator<object> {
  const stream = client.subscribe?.(id, options)[Symbol.asyncIterator]()
  if (!stream) return
  const first = stream.next()
  first.catch(() => {})
  const read = async () => ({ task: readTask(await client.task(id, options)).whole })
  try {
    const begin = await read().catch((thrown) => {
      if (!isNetworkError(thrown)) throw thrown
    })
    if (!begin) return
    yield begin
    const opening = await first.catch(() => undefined)
    const isWhole = opening?.done === false && 'task' in opening.value
    for (let next = opening; next?.done === false; next = await stream.next().catch(() => undefined)) {
      yield isWhole ? next.value : await read()
    }
  } finally {
    void stream.return?.().catch(() => {})
  }
}

interface StreamState {
  /** The number of events so far. */
  events: number
  /** True if the caller has taken them all. */
  isTaken: boolean
}

/** The answer in the stream; undefined if the stream ended, or broke after the agent had named its task. */
async function readStream(
  events: AsyncIterable<object>,
  options: RequestOptions,
  { emit, onActivity, onTask }: Caller,
  tracker: TaskTracker,
  stream: StreamState,
): Promise<RemoteAnswer | undefined> {
  try {
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
  } catch (thrown) {
    if (options.signal.aborted || !tracker.task || !isNetworkError(thrown)) throw thrown
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
    if (now !== previous) await emit({ progress: attempt }, { protocol: 'a2a', event: { task: task.whole } })
    previous = now
  }
}

/** The agent could not be reached; its task may go on. */
function isNetworkError(thrown: unknown): boolean {
  const failure = failureIn(thrown)
  return failure?.code === 'upstream_failed' && failure.details.upstream?.status === undefined
}

/** Cancels the task of an aborted call, unless another process continues it. Does not wait: no caller needs the result. */
function cancelAborted(client: A2aClient, id: string, { headers, signal: caller }: RequestOptions): void {
  if (!caller.aborted || caller.reason === handedOver) return
  const signal = AbortSignal.timeout(cancelTimeout_ms)
  client.cancel(id, { headers, signal }).catch(() => {})
}
