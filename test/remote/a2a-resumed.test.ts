import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { createAbandonedTasks } from '../../src/transports/a2a/abandoned.ts'
import { serve } from '../net/support.ts'
import { a2aVersion } from '../support/a2a.ts'
import { type AnswerStream, serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { collect, eventsOf, textsOf } from '../support/a2a-server.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list, listByCard } from '../support/listed.ts'

const to = 'com.example.researcher'
/** Heartbeats that come too late: a task of this process seems to have lost it at once. */
const frozen = { times: { grace: 0, lease: 1, heartbeat: 3_600_000, poll: 10, cancel: 1, shutdown: 1 } }
/** The agent is asked at growing intervals. */
const patient = { timeout: 20_000 }
const usual = { times: { grace: 0, poll: 10, heartbeat: 20, cancel: 1, shutdown: 1 } }

interface AgentTask {
  readonly id: string
  readonly contextId: string
  status: { state: string; message?: object }
  artifacts: object[]
}

const tasks = new Map<string, AgentTask>()
const cancelled: string[] = []
/** The names of tasks to whose events the agent lets others subscribe: it begins with the task, or it does not. */
const subscribable = new Map([
  ['told whole', true],
  ['told on', false],
  ['cut off', true],
  ['late', true],
])
/** What writes to the stream in which a task began, by the name of the task. */
const begun = new Map<string, AnswerStream>()
/** What writes to the stream of a subscription, by the name of its task. */
const subscriptions = new Map<string, AnswerStream>()
const questions: string[] = []

/** An agent whose tasks work until the test ends them. */
const agent = await serveRpcAgent({ name: 'Researcher' }, ({ method, params, ...call }) => {
  if (method === 'SendStreamingMessage') {
    const name = params.message.parts[0].text
    const artifacts = subscribable.has(name) ? [artifactOf('one')] : []
    const task = { id: name, contextId: 'c', status: working, artifacts }
    tasks.set(name, task)
    const stream = call.stream()
    begun.set(name, stream)
    return stream.write({ task })
  }
  const { id } = params
  if (method === 'CancelTask') cancelled.push(id)
  if (method === 'CancelTask' && id === 'irrevocable') {
    return call.error({ code: -32002, message: 'The ticket is printed.' })
  }
  const beginsWhole = subscribable.get(id)
  if (method === 'SubscribeToTask' && beginsWhole !== undefined) {
    const stream = call.stream()
    subscriptions.set(id, stream)
    if (beginsWhole) stream.write({ task: tasks.get(id) as AgentTask })
    return
  }
  if (method === 'GetTask') questions.push(id)
  const task = tasks.get(id)
  if (task) call.result(task)
  else call.error({ code: -32001, message: 'This task is forgotten.' })
})
const notified: string[] = []
/** Takes notifications; also an agent of envelopes that never answers. */
const receiver = await serve(async (request, response) => {
  if (request.url === '/hanging') return
  const { task, statusUpdate } = JSON.parse(await text(request))
  notified.push(`${request.url} ${(task ?? statusUpdate).status.state}`)
  response.writeHead(204).end()
})
afterAll(() => receiver[Symbol.asyncDispose]())
afterAll(() => agent[Symbol.asyncDispose]())

const working = { state: 'TASK_STATE_WORKING', message: { messageId: 'w', role: 'ROLE_AGENT', parts: [] } }

function complete(name: string): void {
  const task = tasks.get(name) as AgentTask
  task.status = { state: 'TASK_STATE_COMPLETED' }
  task.artifacts = [{ artifactId: 'report', parts: [{ text: 'Found it' }] }]
}

/** Two gateways over one store; `first` begins the tasks, and the second one takes them over. */
async function openPair(first: object) {
  const stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  const origins = `${agent.origin},${receiver.origin}`
  const settings = { DRAGOMAN_ALLOW_ORIGINS: origins, DRAGOMAN_DATA: path, DRAGOMAN_LIVENESS: 'off' }
  const home = stack.use(await startGateway(settings, { tasks: first }))
  const two = stack.use(await startGateway(settings, { tasks: usual }))
  const job = createAbandonedTasks(two.gateway)
  const takeOver = async () => {
    await expect.poll(() => job.isDue(), patient).toBe(true)
    await job.run(new AbortController().signal)
  }
  await listByCard(home, to, agent.origin)
  const token = await home.token('ada')
  const call = async (gateway: TestGateway, method: string, params: object) => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    return (await gateway.request('POST', '/a2a/v1', { body, token, headers: a2aVersion })).json
  }
  const begin = async (name: string, config?: object, tenant = to): Promise<string> => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: name }] }
    const configuration = { returnImmediately: true, taskPushNotificationConfig: config }
    return (await call(home, 'SendMessage', { tenant, message, configuration })).result.task.id
  }
  const subscribe = async (id: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } })
    const headers = { ...a2aVersion, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    return eventsOf(await fetch(`${two.url}/a2a/v1`, { method: 'POST', headers, body }))
  }
  const stateAt = async (gateway: TestGateway, id: string) =>
    (await call(gateway, 'GetTask', { id })).result.status.state
  return {
    home,
    two,
    job,
    takeOver,
    call,
    begin,
    subscribe,
    stateAt,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe('a task whose gateway died', () => {
  test('goes on at another gateway, with what its agent did in between', async () => {
    await using pair = await openPair(frozen)
    const id = await pair.begin('asked')
    await pair.takeOver()
    expect(await pair.stateAt(pair.two, id)).toBe('TASK_STATE_WORKING')
    complete('asked')
    await expect.poll(() => pair.stateAt(pair.two, id), patient).toBe('TASK_STATE_COMPLETED')
    const { result } = await pair.call(pair.two, 'GetTask', { id })
    expect(result.artifacts).toMatchObject([{ artifactId: 'report', parts: [{ text: 'Found it' }] }])
    expect(result.history).toHaveLength(1)
    expect(cancelled).not.toContain('asked')
  })

  test('goes on for who listens to it at another gateway, and in a list', async () => {
    await using pair = await openPair(frozen)
    const id = await pair.begin('heard')
    const events = await pair.subscribe(id)
    await pair.takeOver()
    const [listed] = (await pair.call(pair.two, 'ListTasks', {})).result.tasks
    expect(listed).toMatchObject({ id, status: { state: 'TASK_STATE_WORKING' } })
    complete('heard')
    const states = (await collect(events)).map(
      ({ task, statusUpdate }) => (task ?? statusUpdate)?.status.state,
    )
    expect(states).not.toContain('TASK_STATE_FAILED')
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED')
  })

  test('is cancelled at its agent from another gateway', async () => {
    await using pair = await openPair(frozen)
    const id = await pair.begin('unwanted')
    expect((await pair.call(pair.two, 'CancelTask', { id })).result.status.state).toBe('TASK_STATE_CANCELED')
    await expect.poll(() => cancelled, patient).toContain('unwanted')
  })

  test('has failed if its agent has forgotten it, in the words of the agent', async () => {
    await using pair = await openPair(frozen)
    const id = await pair.begin('forgotten')
    tasks.delete('forgotten')
    await pair.takeOver()
    await expect.poll(() => pair.stateAt(pair.two, id), patient).toBe('TASK_STATE_FAILED')
    const { result } = await pair.call(pair.two, 'GetTask', { id })
    expect(result.status.message.parts[0].text).toBe('The agent says: This task is forgotten.')
  })
})

describe('the addresses of a task whose gateway died', () => {
  test('are told how it ended, though nobody asks for it', async () => {
    await using pair = await openPair(frozen)
    await pair.begin('posted', { url: `${receiver.origin}/posted`, token: 'secret' })
    await pair.takeOver()
    expect(await pair.job.isDue()).toBe(false)
    complete('posted')
    await expect.poll(() => notified, patient).toContain('/posted TASK_STATE_COMPLETED')
    expect(notified).not.toContain('/posted TASK_STATE_FAILED')
  })

  test('are told by a gateway that was only late with its heartbeat, which goes on as before', async () => {
    await using pair = await openPair(frozen)
    await pair.begin('late', { url: `${receiver.origin}/late` })
    const job = createAbandonedTasks(pair.home.gateway)
    await expect.poll(() => job.isDue(), patient).toBe(true)
    await job.run(new AbortController().signal)
    const statusUpdate = { taskId: 'late', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } }
    begun.get('late')?.write({ statusUpdate })
    await expect.poll(() => notified, patient).toContain('/late TASK_STATE_COMPLETED')
    expect([...subscriptions.keys()]).not.toContain('late')
  })

  test('are told that it failed, if its agent has no task that goes on', async () => {
    await using pair = await openPair(frozen)
    const hanging = 'com.example.hanging'
    await list(pair.home, {
      package_name: hanging,
      endpoints: [{ protocol: 'envelope', url: `${receiver.origin}/hanging` }],
    })
    const id = await pair.begin('lost', { url: `${receiver.origin}/lost` }, hanging)
    await pair.takeOver()
    await expect.poll(() => notified, patient).toContain('/lost TASK_STATE_FAILED')
    await expect.poll(() => pair.job.isDue(), patient).toBe(false)
    expect(await pair.stateAt(pair.two, id)).toBe('TASK_STATE_FAILED')
  })
})

const artifactOf = (text: string) => ({ artifactId: 'report', parts: [{ text }] })
function addTo(name: string, text: string): void {
  const task = tasks.get(name) as AgentTask
  const [before] = task.artifacts as ReturnType<typeof artifactOf>[]
  task.artifacts = [{ artifactId: 'report', parts: [...(before?.parts ?? []), { text }] }]
  const artifactUpdate = { taskId: name, contextId: 'c', artifact: artifactOf(text), append: true }
  subscriptions.get(name)?.write({ artifactUpdate })
}

describe('a task that goes on at an agent that streams', () => {
  /** A task whose first gateway stopped, and the events that its caller hears from the second one. */
  async function openStreamed(name: string) {
    const pair = await openPair(usual)
    const id = await pair.begin(name)
    const output = async (gateway = pair.two) => {
      const { result } = await pair.call(gateway, 'GetTask', { id })
      return textsOf([{ task: result }])
    }
    await expect.poll(() => output(pair.home), patient).toEqual(['one'])
    await pair.home.gateway.taskManager[Symbol.asyncDispose]()
    const task = tasks.get(name) as AgentTask
    const answers = pair.subscribe(id).then(collect)
    await pair.takeOver()
    await expect.poll(() => subscriptions.has(name), patient).toBe(true)
    const stream = subscriptions.get(name) as AnswerStream
    const ids = { taskId: name, contextId: 'c' }
    const add = (text: string) => addTo(name, text)
    const finish = () => {
      task.status = { state: 'TASK_STATE_COMPLETED' }
      stream.write({ statusUpdate: { ...ids, status: task.status } })
    }
    return { answers, stream, add, finish, output, [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose]() }
  }

  test('is heard by the stream of the agent, nothing twice, and not asked for again and again', async () => {
    await using streamed = await openStreamed('told whole')
    streamed.add('two')
    streamed.add('three')
    streamed.finish()
    expect(textsOf(await streamed.answers)).toEqual(['one', 'two', 'three'])
    expect(await streamed.output()).toEqual(['one', 'two', 'three'])
    expect(questions).not.toContain('told whole')
  })

  test('is asked for where the stream does not begin with the task', async () => {
    await using streamed = await openStreamed('told on')
    streamed.add('two')
    await expect.poll(() => streamed.output(), patient).toEqual(['one', 'two'])
    streamed.add('three')
    streamed.finish()
    expect(textsOf(await streamed.answers).at(-1)).toBe('three')
    expect(await streamed.output()).toEqual(['one', 'two', 'three'])
  })

  test('is asked for when the stream ends too early', async () => {
    await using streamed = await openStreamed('cut off')
    streamed.stream.end()
    complete('cut off')
    expect(textsOf(await streamed.answers).at(-1)).toBe('Found it')
    expect(await streamed.output()).toEqual(['Found it'])
  })
})

test.each([
  ['in its own process', 'home'],
  ['at another gateway', 'two'],
] as const)('a task that its agent does not cancel goes on, %s', async (_, at) => {
  await using pair = await openPair(usual)
  const id = await pair.begin('irrevocable')
  const { error } = await pair.call(pair[at], 'CancelTask', { id })
  expect(error).toMatchObject({ code: -32002, message: 'The agent says: The ticket is printed.' })
  // The other gateway reads the state of the last heartbeat.
  expect(await pair.stateAt(pair[at], id)).toMatch(/^TASK_STATE_(SUBMITTED|WORKING)$/)
})

test('a gateway that stops leaves its tasks to the others, and cancels none at its agent', async () => {
  await using pair = await openPair(usual)
  const id = await pair.begin('handed over')
  await pair.home.gateway.taskManager[Symbol.asyncDispose]()
  expect(await pair.stateAt(pair.home, id)).toBe('TASK_STATE_WORKING')
  await pair.takeOver()
  expect(await pair.stateAt(pair.two, id)).toBe('TASK_STATE_WORKING')
  complete('handed over')
  await expect.poll(() => pair.stateAt(pair.two, id), patient).toBe('TASK_STATE_COMPLETED')
  expect(cancelled).not.toContain('handed over')
})
