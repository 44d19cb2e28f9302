import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { abortable } from '../../src/common/abort.ts'
import type { A2aClient } from '../../src/remote/a2a/client.ts'
import { follow } from '../../src/remote/a2a/follow.ts'
import { type AnswerStream, type RpcCall, serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'

const to = 'com.example.silent'
const ids = { id: 't', contextId: 'c' }
const working = { ...ids, status: { state: 'TASK_STATE_WORKING' } }

/**
 * An agent that begins a task and then streams nothing. `answer` answers the questions for its task. In the gateway,
 * every wait is over at once, except for the limit of silence.
 */
async function openSilent(answer: (times: number, call: RpcCall, write: (result: object) => void) => void) {
  let stream: AnswerStream | undefined
  let times = 0
  const agent = await serveRpcAgent({ name: 'Silent' }, (call) => {
    if (call.method === 'SendStreamingMessage') {
      stream = call.stream()
      return stream.write({ task: working })
    }
    times += 1
    answer(times, call, (result) => stream?.write(result))
  })
  const gateway = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: agent.origin, DRAGOMAN_LIVENESS: 'off' },
    { wait: async (_, signal) => await nextTurn(undefined, { signal }) },
  )
  await listByCard(gateway, to, agent.origin)
  const token = await gateway.token('ada')
  const body = { to, action: 'send_message', params: { text: 'go' } }
  return {
    call: async () => (await gateway.request('POST', '/a2a/message', { body, token })).json,
    times: () => times,
    isOpen: () => stream?.isOpen(),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await agent[Symbol.asyncDispose]()
    },
  }
}

const completed = (text: string) => ({
  task: {
    ...ids,
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'a', parts: [{ text }] }],
  },
})

test('a silent stream is not an agent without an answer: its task is asked for until it speaks', async () => {
  await using agent = await openSilent((times, call, write) => {
    if (times === 20) write(completed('from the stream'))
    call.result(working)
  })
  expect(await agent.call()).toEqual({ text: 'from the stream' })
  expect(agent.times()).toBeGreaterThanOrEqual(20)
})

test('an answer that a dead stream did not bring is that of the task, and the stream is closed', async () => {
  await using agent = await openSilent((times, call) =>
    call.result(times < 3 ? working : completed('from the task').task),
  )
  expect(await agent.call()).toEqual({ text: 'from the task' })
  await expect.poll(agent.isOpen).toBe(false)
})

test('an agent that does not tell its task is waited for by its stream alone', async () => {
  await using agent = await openSilent((times, call, write) => {
    if (times === 5) write(completed('from the stream'))
    call.error({ code: -32601, message: 'Method not found' })
  })
  expect(await agent.call()).toEqual({ text: 'from the stream' })
})

test('a stream that is given up, as not a byte came for long, does not fail a task whose agent answers', async () => {
  const upstream = { code: 'UND_ERR_BODY_TIMEOUT' }
  const client: A2aClient = {
    async *send() {
      yield { task: working }
      throw new Failure('upstream_timeout', 'Not a byte came.', { upstream })
    },
    task: async () => completed('from the task').task,
    async cancel() {},
  }
  // What is asked for while the stream is silent would hide its end.
  const wait = (pause_ms: number, signal: AbortSignal) =>
    pause_ms < 15_000 ? Promise.resolve() : abortable(new Promise<void>(() => {}), signal)
  const message = { message: { parts: [] }, returns_immediately: false }
  const options = { headers: {}, signal: new AbortController().signal }
  const caller = { emit: async () => {}, onActivity() {}, onTask() {} }
  expect(await follow(client, message, options, caller, wait)).toMatchObject({
    output: { text: 'from the task' },
  })
})
