import { createHmac } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { StoredTask, TaskStore } from '../../schemas/task.ts'
import { PushNotifications, type PushPort } from '../../src/transports/a2a/tasks/push.ts'
import { serve } from '../net/support.ts'
import { a2aVersion } from '../support/a2a.ts'
import { startGateway } from '../support/gateway.ts'

interface Received {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into notifications freely
  readonly json: any
}

const received: Received[] = []
/** Statuses of the next answers; 204 when empty. */
const statuses: number[] = []
const waits: number[] = []

const receiver = await serve((request, response) => {
  let text = ''
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    received.push({ headers: request.headers, text, json: JSON.parse(text) })
    response.writeHead(statuses.shift() ?? 204).end()
  })
})
const gateway = await startGateway(
  { DRAGOMAN_ALLOW_ORIGINS: receiver.origin },
  {
    wait: async (milliseconds) => {
      waits.push(milliseconds)
    },
  },
)
const ada = await gateway.token('ada')

afterAll(() => receiver[Symbol.asyncDispose]())
afterAll(() => gateway[Symbol.asyncDispose]())

const rest = (method: string, path: string, body?: object, token: string | null = ada) =>
  gateway.request(method, `/a2a/v1/${path}`, { headers: a2aVersion, body, token: token ?? undefined })

const search = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'read a web page' }] }

/** Starts a task whose changes are posted here; resolves with the task. */
async function begin(config: object) {
  const configuration = { returnImmediately: true, taskPushNotificationConfig: config }
  const answer = await rest('POST', 'message:send', { message: search, configuration })
  expect(answer.status, answer.text).toBe(200)
  return answer.json.task
}

const completed = 'TASK_STATE_COMPLETED'
const ended = (taskId: string) => () =>
  received.find(({ json }) => json.task?.id === taskId && json.task.status.state === completed)

describe('the address that comes with a message', () => {
  test('is told of the states of its task, with the proofs that its owner gave, signed', async () => {
    const token = 'a-token-of-mine'
    const authentication = { scheme: 'Bearer', credentials: 'secret-of-mine' }
    const task = await begin({ url: `${receiver.origin}/hook`, token, authentication })
    await expect.poll(ended(task.id)).toBeDefined()
    const last = ended(task.id)()
    const { headers, text, json } = last as Received
    expect(json.task.artifacts[0].parts[0].data.agents).toBeDefined()
    expect(headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': token,
      authorization: 'Bearer secret-of-mine',
    })
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
    const signature = createHmac('sha256', token).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    const listed = await rest('GET', `tasks/${task.id}/pushNotificationConfigs`)
    expect(listed.json.configs).toEqual([
      { taskId: task.id, id: expect.any(String), url: `${receiver.origin}/hook` },
    ])
    expect(listed.text).not.toContain('secret-of-mine')
  })

  test('is told in order', async () => {
    statuses.push(500, 503)
    const task = await begin({ url: `${receiver.origin}/slow` })
    await expect.poll(ended(task.id)).toBeDefined()
    const states = received
      .filter(({ json }) => (json.task?.id ?? json.statusUpdate?.taskId) === task.id)
      .map(({ json }) => (json.task ?? json.statusUpdate).status.state)
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED')
    expect(states.lastIndexOf('TASK_STATE_WORKING')).toBeLessThan(states.indexOf('TASK_STATE_COMPLETED'))
  })

  test.each([
    ['an address that is not public', { url: 'http://127.0.0.1:9/hook' }, 'BLOCKED_ADDRESS'],
    ['no address', { url: 'hook' }, 'INVALID_REQUEST'],
    [
      'a token that would break the header',
      { url: 'https://example.com/', token: 'a\r\nb: c' },
      'INVALID_REQUEST',
    ],
  ])('is refused before any work: %s', async (_, config, reason) => {
    const configuration = { taskPushNotificationConfig: config }
    const answer = await rest('POST', 'message:send', { message: search, configuration })
    expect(answer.json.error.details[0].metadata.code.toUpperCase()).toBe(reason)
  })

  test('is told in the form of A2A 0.3 where that was the version of its request', async () => {
    const message = {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [{ kind: 'text', text: 'pages' }],
    }
    const authentication = { schemes: ['Bearer'], credentials: 'mine' }
    const pushNotificationConfig = { url: `${receiver.origin}/old`, authentication }
    const params = { message, configuration: { blocking: false, pushNotificationConfig } }
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params }
    const { id } = (await gateway.request('POST', '/a2a/v1', { body, token: ada })).json.result
    const notifications = () => received.filter(({ json }) => json.id === id)
    await expect.poll(() => notifications().at(-1)?.json.status.state).toBe('completed')
    expect(notifications().at(-1)?.json).toMatchObject({
      kind: 'task',
      artifacts: [{ parts: [{ kind: 'data' }, { kind: 'text' }] }],
    })
    for (const { headers, json } of notifications()) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer mine' })
      expect(json.kind).toBe('task')
    }
  })

  test('needs a caller with a token', async () => {
    const configuration = { taskPushNotificationConfig: { url: `${receiver.origin}/hook` } }
    const answer = await rest('POST', 'message:send', { message: search, configuration }, null)
    expect(answer.status).toBe(401)
  })
})

describe('the configurations of a task', () => {
  test('that are made after its end are told of it at once, and again when they fail, ever later', async () => {
    const { id } = (
      await rest('POST', 'message:send', { message: search, configuration: { returnImmediately: true } })
    ).json.task
    await expect.poll(async () => (await rest('GET', `tasks/${id}`)).json.status.state).toBe(completed)
    await rest('POST', `tasks/${id}/pushNotificationConfigs`, { url: `${receiver.origin}/late` })
    await expect.poll(ended(id)).toBeDefined()
    const tellings = () => received.filter(({ json }) => json.task?.id === id).length
    const before = tellings()
    statuses.push(500, 503)
    waits.length = 0
    await rest('POST', `tasks/${id}/pushNotificationConfigs`, { url: `${receiver.origin}/failing` })
    await expect.poll(tellings).toBe(before + 3)
    const [first = 0, second = 0] = waits.filter((wait) => wait >= 4_000)
    expect(first).toBeGreaterThanOrEqual(4_000)
    expect(second).toBeGreaterThan(first)
  })

  test('are made, read, listed and deleted by its owner alone, at most eight', async () => {
    const { id: taskId } = (
      await rest('POST', 'message:send', { message: search, configuration: { returnImmediately: true } })
    ).json.task
    const path = `tasks/${taskId}/pushNotificationConfigs`
    const config = { id: 'mine', url: `${receiver.origin}/hook` }
    expect((await rest('POST', path, config)).json).toEqual({ taskId, ...config })
    expect((await rest('GET', `${path}/mine`)).json).toEqual({ taskId, ...config })
    expect((await rest('GET', `${path}/other`)).status).toBe(404)
    const eve = await gateway.token('eve')
    for (const [method, body] of [['GET'], ['DELETE'], ['POST', config]] as const) {
      const target = method === 'POST' ? path : `${path}/mine`
      expect((await rest(method, target, body, eve)).json.error.details[0].reason).toBe('TASK_NOT_FOUND')
    }
    for (let number = 1; number < 8; number++)
      await rest('POST', path, { url: `${receiver.origin}/${number}` })
    const ninth = await rest('POST', path, { url: `${receiver.origin}/9` })
    expect(ninth.json.error.details[0].metadata.code).toBe('quota_exceeded')
    expect((await rest('DELETE', `${path}/mine`)).json).toEqual({})
    expect((await rest('DELETE', `${path}/mine`)).status).toBe(200)
    expect((await rest('GET', path)).json.configs).toHaveLength(7)
  })

  test('have their forms of A2A 0.3', async () => {
    const call = async (method: string, input: object) =>
      (
        await gateway.request('POST', '/a2a/v1', {
          body: { jsonrpc: '2.0', id: 1, method, params: input },
          token: ada,
        })
      ).json
    const { id } = (
      await rest('POST', 'message:send', { message: search, configuration: { returnImmediately: true } })
    ).json.task
    const pushNotificationConfig = { id: 'old', url: `${receiver.origin}/hook` }
    const made = await call('tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig })
    expect(made.result).toEqual({ taskId: id, pushNotificationConfig })
    const params = { id, pushNotificationConfigId: 'old' }
    expect((await call('tasks/pushNotificationConfig/get', params)).result).toEqual(made.result)
    expect((await call('tasks/pushNotificationConfig/get', { id })).result).toEqual(made.result)
    expect((await call('tasks/pushNotificationConfig/list', { id })).result).toEqual([made.result])
    expect((await call('tasks/pushNotificationConfig/delete', params)).result).toBeNull()
  })
})

/** Notifications to one address, of a task that runs, with what the test says of posting and waiting. */
function notifications(
  url: string,
  port: Pick<PushPort, 'post' | 'wait'>,
  onError: (fault: unknown) => void = () => {},
) {
  const config = { id: 'c', url, owner: 'o', sealed: null }
  const store = { push: async () => [config] } as unknown as TaskStore
  const whole = { check: () => {}, seal: () => '', open: () => '{}', isRevoked: () => false, ...port }
  const task = { id: 't', state: 'TASK_STATE_WORKING', history: [], artifacts: [] } as unknown as StoredTask
  return { push: new PushNotifications({ store, port: whole, onError }), task }
}

test('an address that refuses a state hears of the next one at once', async () => {
  const posted: string[] = []
  const waits = Promise.withResolvers<void>()
  const { push, task } = notifications('https://hooks.example/', {
    async post({ body }) {
      posted.push(body.includes('COMPLETED') ? 'end' : 'work')
      return body.includes('COMPLETED') ? 'done' : 'failed'
    },
    wait: (_, signal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        waits.resolve()
      }),
  })
  await using _ = push
  const first = push.notify(task)
  await waits.promise
  expect(await push.notify({ ...task, state: 'TASK_STATE_COMPLETED' })).toBe('posted')
  expect(await first).toBe('posted')
  expect(posted).toEqual(['work', 'end'])
})

test('a notification that no try delivers is told to the operator, without the path or the secrets of its address', async () => {
  const posted: string[] = []
  const fault = Promise.withResolvers<unknown>()
  const port: Pick<PushPort, 'post' | 'wait'> = {
    async post({ url }) {
      posted.push(url)
      return 'failed'
    },
    wait: async () => {},
  }
  const { push, task } = notifications('https://hooks.example/secret-path', port, fault.resolve)
  await using _ = push
  expect(await push.notify(task)).toBe('posted')
  expect(String(await fault.promise)).toBe(
    'Error: A notification of the task t was not taken by https://hooks.example in 6 tries and is dropped.',
  )
  expect(posted).toHaveLength(6)
})
