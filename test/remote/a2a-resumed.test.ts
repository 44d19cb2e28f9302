import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve, type TestServer } from '../net/support.ts'
import { a2aVersion } from '../support/a2a.ts'
import { collect, eventsOf } from '../support/a2a-server.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listByCard } from '../support/listed.ts'

const to = 'com.example.researcher'
/** Heartbeats that come too late: a task of this process seems to have lost it at once. */
const frozen = { times: { lease: 1, heartbeat: 3_600_000, poll: 10, cancel: 1, shutdown: 1 } }
/** The agent is asked at growing intervals. */
const patient = { timeout: 20_000 }
const usual = { times: { poll: 10, heartbeat: 20, cancel: 1, shutdown: 1 } }

interface AgentTask {
  readonly id: string
  readonly contextId: string
  status: { state: string; message?: object }
  artifacts: object[]
}

let agent: TestServer
const tasks = new Map<string, AgentTask>()
const cancelled: string[] = []

/** An agent whose tasks work until the test ends them. */
beforeAll(async () => {
  agent = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') return void response.end(JSON.stringify(card))
      const { id, method, params } = JSON.parse(text)
      const framed = (answer: object) => JSON.stringify({ jsonrpc: '2.0', id, ...answer })
      if (method === 'CancelTask') cancelled.push(params.id)
      if (method === 'CancelTask' && params.id === 'irrevocable') {
        const error = { code: -32002, message: 'The ticket is printed.' }
        return void response.setHeader('Content-Type', 'application/json').end(framed({ error }))
      }
      if (method !== 'SendStreamingMessage') {
        const task = tasks.get(params.id)
        response.setHeader('Content-Type', 'application/json')
        const error = { code: -32001, message: 'This task is forgotten.' }
        return void response.end(framed(task ? { result: task } : { error }))
      }
      const task = { id: params.message.parts[0].text, contextId: 'c', status: working, artifacts: [] }
      tasks.set(task.id, task)
      response.setHeader('Content-Type', 'text/event-stream')
      response.write(`data: ${framed({ result: { task } })}\n\n`)
    })
  })
  const interfaceOf = { url: `${agent.origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }
  const card = {
    name: 'Researcher',
    description: 'Works for long.',
    supportedInterfaces: [interfaceOf],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  }
})
afterAll(() => agent[Symbol.asyncDispose]())

const working = { state: 'TASK_STATE_WORKING', message: { messageId: 'w', role: 'ROLE_AGENT', parts: [] } }

function complete(name: string): void {
  const task = tasks.get(name) as AgentTask
  task.status = { state: 'TASK_STATE_COMPLETED' }
  task.artifacts = [{ artifactId: 'report', parts: [{ text: 'Found it' }] }]
}

/** Two gateways over one store; `first` begins the tasks. */
async function openPair(first: object) {
  const stack = new AsyncDisposableStack()
  const { path } = stack.use(await temporaryFolder())
  const settings = { DRAGOMAN_ALLOW_ORIGINS: agent.origin, DRAGOMAN_DATA: path, DRAGOMAN_LIVENESS: 'off' }
  const home = stack.use(await startGateway(settings, { tasks: first }))
  const two = stack.use(await startGateway(settings, { tasks: usual }))
  await listByCard(home, to, agent.origin)
  const token = await home.token('ada')
  const call = async (gateway: TestGateway, method: string, params: object) => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    return (await gateway.request('POST', '/a2a/v1', { body, token, headers: a2aVersion })).json
  }
  const begin = async (name: string): Promise<string> => {
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: name }] }
    const configuration = { returnImmediately: true }
    return (await call(home, 'SendMessage', { tenant: to, message, configuration })).result.task.id
  }
  const subscribe = async (id: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } })
    const headers = { ...a2aVersion, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    return eventsOf(await fetch(`${two.url}/a2a/v1`, { method: 'POST', headers, body }))
  }
  const stateAt = async (gateway: TestGateway, id: string) =>
    (await call(gateway, 'GetTask', { id })).result.status.state
  return { home, two, call, begin, subscribe, stateAt, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

describe('a task whose gateway died', () => {
  test('goes on at the gateway that is asked for it, with what its agent did in between', async () => {
    await using pair = await openPair(frozen)
    const id = await pair.begin('asked')
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
    await expect.poll(() => pair.stateAt(pair.two, id), patient).toBe('TASK_STATE_FAILED')
    const { result } = await pair.call(pair.two, 'GetTask', { id })
    expect(result.status.message.parts[0].text).toBe('The agent says: This task is forgotten.')
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
  expect(await pair.stateAt(pair.two, id)).toBe('TASK_STATE_WORKING')
  complete('handed over')
  await expect.poll(() => pair.stateAt(pair.two, id), patient).toBe('TASK_STATE_COMPLETED')
  expect(cancelled).not.toContain('handed over')
})
