import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Wait } from '../../common/clock.ts'
import { backoff } from '../../common/retry.ts'
import { failureIn } from '../../net/fetch/web-fetch.ts'
import type { RemoteAnswer, RemoteCall } from '../remote-agent.ts'
import { answerOf, type ReceivedTask, readTask } from './answer.ts'
import type { A2aClient, OutgoingMessage, RequestOptions } from './client.ts'
import { TaskTracker, updateOf } from './task-tracker.ts'

const pollPauses = { first_ms: 250, max_ms: 4_000 }
const cancelTimeout_ms = 5_000
/** Polls of a task that fail in a row before the call fails. */
const maxFailedPolls = 5

type Caller = Pick<RemoteCall, 'emit' | 'onActivity'>

/**
 * Sends a message and waits for its answer: by the stream if the agent streams; otherwise, or if the stream ends too
 * early or breaks, by polling the task. Aborting the call cancels the task.
 */
export async function follow(
  client: A2aClient,
  message: OutgoingMessage,
  options: RequestOptions,
  caller: Caller,
  wait: Wait,
): Promise<RemoteAnswer> {
  const tracker = new TaskTracker(message.task_id !== undefined)
  try {
    const answer = await readStream(client, message, options, caller, tracker)
    if (answer) return answer
    const { task } = tracker
    if (!task) throw new Failure('upstream_invalid', 'The agent ended its stream without an answer.')
    return answerOf(task) ?? (await poll(client, task, options, caller, wait))
  } catch (thrown) {
    const { task } = tracker
    if (task && options.signal.aborted) cancel(client, task, options)
    throw thrown
  }
}

/** The answer in the stream; undefined if the stream ended, or broke after the agent had named its task. */
async function readStream(
  client: A2aClient,
  message: OutgoingMessage,
  options: RequestOptions,
  { emit, onActivity }: Caller,
  tracker: TaskTracker,
): Promise<RemoteAnswer | undefined> {
  let events = 0
  try {
    for await (const value of client.send(message, options)) {
      onActivity()
      const event = value as JsonObject
      const answer = tracker.take(event)
      if (answer) return answer
      events += 1
      await emit(updateOf(event, events), { protocol: 'a2a', event })
    }
  } catch (thrown) {
    if (options.signal.aborted || !tracker.task || !isNetworkError(thrown)) throw thrown
  }
  return undefined
}

/** Polls the task until it has ended, and tells each change. */
async function poll(
  client: A2aClient,
  { id, whole }: ReceivedTask,
  options: RequestOptions,
  { emit, onActivity }: Caller,
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

/** Cancels without waiting: no caller needs the result. */
function cancel(client: A2aClient, { id }: ReceivedTask, { headers }: RequestOptions): void {
  const signal = AbortSignal.timeout(cancelTimeout_ms)
  client.cancel(id, { headers, signal }).catch(() => {})
}
