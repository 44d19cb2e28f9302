import { Failure } from '../../../schemas/failure.ts'
import type { Wait } from '../../common/clock.ts'
import type { RemoteAnswer, RemoteCall } from '../remote-agent.ts'
import { answerOf, readTask, type SeenTask } from './answer.ts'
import type { A2aClient, Options, Sent } from './client.ts'
import { createLedger, updateOf } from './ledger.ts'

const firstPause = 250
const longestPause = 4_000
const cancelMilliseconds = 5_000

/**
 * Sends a message and follows what becomes of it until it is answered: by the stream where the agent streams, by asking
 * for the task where it does not, or where the stream ends too early. A call that ends first cancels the task.
 */
export async function follow(
  client: A2aClient,
  sent: Sent,
  options: Options,
  { emit }: Pick<RemoteCall, 'emit'>,
  wait: Wait,
): Promise<RemoteAnswer> {
  const ledger = createLedger(sent.task_id !== undefined)
  let told = 0
  try {
    for await (const event of client.send(sent, options)) {
      const seen = event as Readonly<Record<string, unknown>>
      const answer = ledger.take(seen)
      if (answer) return answer
      told += 1
      const update = updateOf(seen, told)
      if (update) await emit(update)
    }
    const task = ledger.task()
    if (!task) throw new Failure('upstream_invalid', 'The agent ended its answer without one.')
    return answerOf(task) ?? (await ended(client, task, options, wait))
  } catch (thrown) {
    const task = ledger.task()
    if (task && options.signal.aborted) cancel(client, task, options)
    throw thrown
  }
}

/** Asks for the task until somebody has ended it. */
async function ended(
  client: A2aClient,
  { id }: SeenTask,
  options: Options,
  wait: Wait,
): Promise<RemoteAnswer> {
  for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
    await wait(pause, options.signal)
    const answer = answerOf(readTask(await client.task(id, options)))
    if (answer) return answer
  }
}

/** Nobody waits for it: whether it comes through is the agent's business. */
function cancel(client: A2aClient, { id }: SeenTask, { headers }: Options): void {
  const signal = AbortSignal.timeout(cancelMilliseconds)
  client.cancel(id, { headers, signal }).catch(() => {})
}
