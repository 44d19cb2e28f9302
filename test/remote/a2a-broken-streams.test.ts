import { expect, test } from 'vitest'
import { a2aVersion } from '../support/a2a.ts'
import { type AnswerStream, type RpcCall, serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { collect, eventsOf, textsOf } from '../support/a2a-server.ts'
import { startGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'

const to = 'com.example.unlucky'
const ids = { taskId: 't', contextId: 'c' }
const artifactOf = (...texts: string[]) => ({ artifactId: 'a', parts: texts.map((text) => ({ text })) })
const says = (text: string) => ({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } })
const taskOf = (state: string, ...texts: string[]) => ({
  id: 't',
  contextId: 'c',
  status: { state, ...(state === 'TASK_STATE_WORKING' && says(`${texts.length} so far`)) },
  ...(texts.length > 0 && { artifacts: [artifactOf(...texts)] }),
})
const add = (text: string) => ({ artifactUpdate: { ...ids, artifact: artifactOf(text), append: true } })
const end = { statusUpdate: { ...ids, status: { state: 'TASK_STATE_COMPLETED' } } }

function breaks(stream: AnswerStream): void {
  stream.write({ task: taskOf('TASK_STATE_WORKING', 'one') })
  setImmediate(stream.cut)
}

/** A gateway that lists an agent whose first stream breaks after the first part of its answer, unless told otherwise. */
async function openBroken(answer: (call: RpcCall) => void, begin = breaks) {
  const methods: string[] = []
  const stack = new AsyncDisposableStack()
  const agent = stack.use(
    await serveRpcAgent({}, (call) => {
      methods.push(call.method)
      if (call.method === 'SendStreamingMessage') begin(call.stream())
      else answer(call)
    }),
  )
  const gateway = stack.use(
    await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin, DRAGOMAN_LIVENESS: 'off' }),
  )
  await listByCard(gateway, to, agent.origin)
  const token = await gateway.token('ada')
  return { gateway, token, methods, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** The subscription begins with the task, as the specification wants it, and goes on. */
function resumes(call: RpcCall): void {
  const stream = call.stream()
  stream.write({ task: taskOf('TASK_STATE_WORKING', 'one', 'two') })
  stream.write(add('three'))
  stream.write(end)
  stream.end()
}

test('a caller of A2A hears the rest of a broken stream by a new one', async () => {
  await using broken = await openBroken(resumes)
  const { gateway, token, methods } = broken
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const answer = await fetch(`${gateway.url}/a2a/v1/${to}/message:stream`, {
    method: 'POST',
    headers: { ...a2aVersion, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ message }),
  })
  const events = await collect(eventsOf(answer))
  // A task that is told anew replaces its artifact.
  expect(textsOf(events)).toEqual(['one', 'one', 'two', 'three'])
  expect(events.at(-1)?.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED')
  expect(methods).toEqual(['SendStreamingMessage', 'SubscribeToTask'])
})

test('every other caller gets the whole output after a new stream', async () => {
  await using broken = await openBroken(resumes)
  const body = { to, action: 'send_message', params: { text: 'go' } }
  const { json } = await broken.gateway.request('POST', '/a2a/message', { body, token: broken.token })
  expect(json).toEqual({ text: 'onetwothree' })
})

test('an agent that refuses the new stream is asked for the task', async () => {
  let times = 0
  await using broken = await openBroken(({ method, ...call }) => {
    if (method === 'SubscribeToTask') return call.error({ code: -32004, message: 'No.' })
    times += 1
    call.result(taskOf(times < 3 ? 'TASK_STATE_WORKING' : 'TASK_STATE_COMPLETED', 'one', 'two'))
  })
  const body = { to, action: 'send_message', params: { text: 'go' } }
  const { json } = await broken.gateway.request('POST', '/a2a/message', { body, token: broken.token })
  expect([json, times]).toEqual([{ text: 'onetwo' }, 3])
  expect(broken.methods.filter((method) => method === 'SubscribeToTask')).toHaveLength(1)
})

const working = { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' } } }
const answers: Readonly<Record<string, (times: number, call: RpcCall) => void>> = {
  'has a stream that does not begin with it': (times, { method, ...call }) => {
    if (method === 'GetTask') {
      return call.result(taskOf(`TASK_STATE_${times < 3 ? 'WORKING' : 'COMPLETED'}`, 'one', 'two'))
    }
    const stream = call.stream()
    for (const event of [working, end]) stream.write(event)
    stream.end()
  },
  'is polled': (times, { method, ...call }) => {
    if (method !== 'GetTask') return call.error({ code: -32004, message: 'No.' })
    call.result(taskOf(`TASK_STATE_${times < 3 ? 'WORKING' : 'COMPLETED'}`, 'one', 'two'))
  },
}

test.each(Object.keys(answers))(
  'a caller without A2A hears growing progress in words and at the end the artifacts of a task that %s',
  async (name) => {
    let times = 0
    await using broken = await openBroken((call) => {
      if (call.method === 'GetTask') times += 1
      answers[name]?.(times, call)
    })
    const { text } = await broken.gateway.request('POST', '/a2a/message', {
      body: { to, action: 'send_message', params: { text: 'go' } },
      token: broken.token,
      headers: { Accept: 'text/event-stream' },
    })
    const data = text.split('\n').filter((line) => line.startsWith('data: '))
    const events = data.map((line) => JSON.parse(line.slice('data: '.length)))
    expect(events.at(-1)).toEqual({ text: 'onetwo' })
    const progress = events.filter((each) => 'progress' in each)
    expect(progress[0]).toEqual({ progress: 1, message: '1 so far' })
    expect(progress.map((each) => each.progress)).toEqual(progress.map((_, index) => index + 1))
  },
)

test('an artifact that a stream does not bring is that of the task', async () => {
  const answer = ({ result }: RpcCall) => result(taskOf('TASK_STATE_COMPLETED', 'one', 'two'))
  await using agent = await openBroken(answer, (stream) => {
    for (const event of [working, end]) stream.write(event)
    stream.end()
  })
  const body = { to, action: 'send_message', params: { text: 'go' } }
  const { json } = await agent.gateway.request('POST', '/a2a/message', { body, token: agent.token })
  expect(json).toEqual({ text: 'onetwo' })
  expect(agent.methods).toEqual(['SendStreamingMessage', 'GetTask'])
})

test('the question that a message answers is no answer of a stream that broke', async () => {
  const asking = { ...taskOf('TASK_STATE_INPUT_REQUIRED'), status: { state: 'TASK_STATE_INPUT_REQUIRED' } }
  let times = 0
  await using agent = await openBroken(resumes, (stream) => {
    stream.write({ task: asking })
    times += 1
    if (times === 1) stream.end()
    else setImmediate(stream.cut)
  })
  const send = async (action: string, params: object) => {
    const body = { to, action, params }
    return (await agent.gateway.request('POST', '/a2a/message', { body, token: agent.token })).json
  }
  const { status, task_id } = await send('send_message', { text: 'go' })
  expect(status).toBe('input_required')
  expect(await send('continue_task', { task_id, input: { text: 'Friday' } })).toEqual({ text: 'onetwothree' })
})
