import { type Message, Role, type Task, TaskState } from '@a2a-js/sdk'
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { afterAll, describe, expect, test } from 'vitest'
import { collect } from '../support/a2a-server.ts'
import { openSession } from '../support/a2a-session.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
const session = await openSession({ tasks: { times: { poll: 10, heartbeat: 20 } } })
afterAll(() => home[Symbol.asyncDispose]())
afterAll(() => session[Symbol.asyncDispose]())

/** A client of the official SDK that has one transport alone and finds the rest on the card. */
function clientOver(binding: string, url: string, token: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('Authorization', `Bearer ${token}`)
    return fetch(input, { ...init, headers })
  }
  const transports = [
    binding === 'JSONRPC'
      ? new JsonRpcTransportFactory({ fetchImpl })
      : new RestTransportFactory({ fetchImpl }),
  ]
  return new ClientFactory({ ...ClientFactoryOptions.default, transports }).createFromUrl(url)
}

function request(
  content: NonNullable<Message['parts'][number]['content']>,
  more: { returnImmediately?: boolean; taskId?: string } = {},
) {
  const { returnImmediately = false, taskId = '' } = more
  const message: Message = {
    messageId: 'm-1',
    contextId: '',
    taskId,
    role: Role.ROLE_USER,
    parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  }
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately }
  return { tenant: '', message, configuration, metadata: undefined }
}
const text = (value: string, more?: Parameters<typeof request>[1]) => request({ $case: 'text', value }, more)
const unfiltered = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  statusTimestampAfter: undefined,
}

describe.each(['JSONRPC', 'HTTP+JSON'])('the client of the A2A SDK, over %s', (binding) => {
  const clientAt = async (path: string) =>
    clientOver(binding, `${home.url}${path}`, await home.token('caller'))
  /** An A2A session whose tasks the test works on. */
  async function worker(subject = `ada-${binding}`): Promise<Client> {
    session.home.gateway.reachedAt(session.url)
    return clientOver(binding, `${session.url}/a2a/v1/`, await session.home.token(subject))
  }

  test.each(['/', '/a2a/v1/'])('finds the card at "%s" and searches in words', async (path) => {
    const client = await clientAt(path)
    const answer = (await client.sendMessage(text('read a web page'))) as Message
    expect(answer.role).toBe(Role.ROLE_AGENT)
    const [data, words] = answer.parts
    expect(data?.content).toMatchObject({ $case: 'data', value: { agents: expect.any(Array) } })
    expect(words?.content?.value).toContain('svc.utility.reader')
  })

  test('calls the agent of its card', async () => {
    for (const path of ['/agents/svc.utility.finance/', '/a2a/v1/svc.utility.finance/']) {
      const client = await clientAt(path)
      const call = { action: 'get_current_price', params: { symbol: '..' } }
      // Only the agent itself knows that this is no symbol.
      await expect(client.sendMessage(request({ $case: 'data', value: call }))).rejects.toThrow(
        'is not the symbol of a share',
      )
    }
  })

  test('streams the result of a search', async () => {
    const client = await clientAt('/')
    const events = await collect(client.sendMessageStream(text('weather')))
    expect(events.map(({ payload }) => payload?.$case)).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ])
  })

  test('gets the extended card in place of the card', async () => {
    const client = await clientAt('/')
    const card = await client.getAgentCard()
    expect(card.skills.map(({ id }) => id)).toContain('publish')
  })

  test('begins a task at once, subscribes to it, gets it, lists it and cancels it', async () => {
    const name = `cancelled by ${binding}`
    const client = await worker()
    const task = (await client.sendMessage(text(name, { returnImmediately: true }))) as Task
    const { signal } = await session.work(name)
    const listening = client.resubscribeTask({ tenant: '', id: task.id })
    expect((await listening.next()).value?.payload?.$case).toBe('task')
    const shown = await client.getTask({ tenant: '', id: task.id, historyLength: 1 })
    expect(shown.status?.state).toBe(TaskState.TASK_STATE_WORKING)
    expect(shown.history).toMatchObject([{ messageId: 'm-1', taskId: task.id }])
    const list = await client.listTasks({ ...unfiltered, pageSize: 1, includeArtifacts: true })
    expect([list.totalSize, list.tasks[0]?.id]).toEqual([1, task.id])
    const working = await client.listTasks({ ...unfiltered, status: TaskState.TASK_STATE_WORKING })
    expect(working.pageSize).toBe(50)
    const cancelled = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED)
    expect(signal.aborted).toBe(true)
    const rest = await collect(listening)
    expect(rest.map(({ payload }) => payload?.$case)).toEqual(['statusUpdate'])
    const again = client.cancelTask({ tenant: '', id: task.id, metadata: undefined })
    await expect(again).rejects.toBeInstanceOf(TaskNotCancelableError)
  })

  test('continues a task that asks for input, in separate streams', async () => {
    const [first, second] = [`asked by ${binding}`, `answered by ${binding}`]
    const client = await worker()
    const stream = client.sendMessageStream(text(first))
    const { value } = await stream.next()
    const id = value?.payload?.$case === 'task' ? value.payload.value.id : ''
    await (await session.work(first)).end('TASK_STATE_INPUT_REQUIRED', [{ text: 'Which?' }])
    expect(await collect(stream)).toHaveLength(2)
    const more = client.sendMessageStream(text(second, { taskId: id }))
    expect((await more.next()).value?.payload?.$case).toBe('task')
    const { tell, end } = await session.work(second)
    await tell({ artifact: { artifactId: 'a', parts: [{ text: 'x' }] }, last: true })
    await end('TASK_STATE_COMPLETED')
    expect((await collect(more)).map(({ payload }) => payload?.$case)).toEqual([
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ])
    const late = client.sendMessage(text('late', { taskId: id }))
    await expect(late).rejects.toBeInstanceOf(UnsupportedOperationError)
  })

  test('knows our errors as those of A2A', async () => {
    const client = await clientAt('/')
    await expect(client.getTask({ tenant: '', id: 'nobody' })).rejects.toBeInstanceOf(TaskNotFoundError)
    const stream = client.sendMessageStream(request({ $case: 'url', value: 'https://example.com' }))
    await expect(stream.next()).rejects.toThrow('not files')
  })
})
