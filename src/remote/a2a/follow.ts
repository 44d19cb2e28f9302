import { Failure } from '../../../schemas/failure.ts'
import type { Wait } from '../../common/clock.ts'
import { backoff } from '../../common/retry.ts'
import type { RemoteAnswer, RemoteCall } from '../remote-agent.ts'
import { answerOf, type ReceivedTask, readTask } from './answer.ts'
import type { A2aClient, OutgoingMessage, RequestOptions } from './client.ts'
import { TaskTracker, updateOf } from './task-tracker.ts'

const pollPauses = { first_ms: 250, max_ms: 4_000 }
const cancelTimeout_ms = 5_000

/**
 * Sends a message and waits for its answer: by the stream if the agent streams; otherwise, or if the stream ends too
 * early, by polling the task. Aborting the call cancels the task.
 */
export async function follow(
  client: A2aClient,
  message: OutgoingMessage,
  options: RequestOptions,
  { emit }: Pick<RemoteCall, 'emit'>,
  wait: Wait,
): Promise<RemoteAnswer> {
  const tracker = new TaskTracker(message.task_id !== undefined)
  let events = 0
  try {
    for await (const value of client.send(message, options)) {
      const event = value as Readonly<Record<string, unknown>>
      const answer = tracker.take(event)
      if (answer) return answer
      events += 1
      const update = updateOf(event, events)
      if (update) await emit(update)
    }
    const { task } = tracker
    if (!task) throw new Failure('upstream_invalid', 'The agent ended its stream without an answer.')
    return answerOf(task) ?? (await poll(client, task, options, wait))
  } catch (thrown) {
    const { task } = tracker
    if (task && options.signal.aborted) cancel(client, task, options)
    throw thrown
  }
}

/** Polls the task until it has ended. */
async function poll(
  client: A2aClient,
  { id }: ReceivedTask,
  options: RequestOptions,
  wait: Wait,
): Promise<RemoteAnswer> {
  for (let attempt = 1; ; attempt++) {
    await wait(backoff(attempt, pollPauses), options.signal)
    const answer = answerOf(readTask(await client.task(id, options)))
    if (answer) return answer
  }
}

/** Cancels without waiting: no caller needs the result. */
function cancel(client: A2aClient, { id }: ReceivedTask, { headers }: RequestOptions): void {
  const signal = AbortSignal.timeout(cancelTimeout_ms)
  client.cancel(id, { headers, signal }).catch(() => {})
}
