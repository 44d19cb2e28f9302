import { once } from 'node:events'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createStanding, type Standing } from '../../src/auth/standing.ts'
import { createAbandonedTasks } from '../../src/transports/a2a/abandoned.ts'
import { serve } from '../net/support.ts'
import { a2aVersion, message } from '../support/a2a.ts'
import { serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { eventsOf as a2aEventsOf, collect } from '../support/a2a-server.ts'
import { eventsOf, take } from '../support/events.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list, listByCard } from '../support/listed.ts'
import { modernHeaders, modernRequest } from '../support/mcp.ts'
import { principal } from '../support/router.ts'
import { openSocket } from '../support/socket.ts'

const to = 'com.example.researcher'
const soon = { timeout: 2000 }
const working = { state: 'TASK_STATE_WORKING' }
const cancelled: string[] = []
let begun = 0

/** An agent whose tasks never end by themselves. */
const agent = await serveRpcAgent({ name: 'Researcher' }, ({ method, params, ...call }) => {
  const id = params.id ?? `task-${++begun}`
  if (method === 'CancelTask') cancelled.push(id)
  const task = { id, contextId: 'c', status: working, artifacts: [] }
  if (method === 'SendStreamingMessage') return call.stream().write({ task })
  if (method === 'SubscribeToTask') return call.stream().write({ task })
  call.result(task)
})
/** An agent that never answers. */
const hanging = await serve(() => {})
const posted: string[] = []
const receiver = await serve((request, response) => {
  posted.push(request.url ?? '')
  response.writeHead(204).end()
})
const origins = [agent, hanging, receiver].map(({ origin }) => origin).join()
let ahead = 0
const clock = () => Date.now() + ahead
const home = await startGateway(
  { DRAGOMAN_ALLOW_ORIGINS: origins },
  { clock, tasks: { times: { grace: 0 } } },
)
await listByCard(home, to, agent.origin)
await list(home, {
  package_name: 'com.example.hanging',
  endpoints: [{ protocol: 'envelope', url: `${hanging.origin}/` }],
})
afterAll(async () => {
  for (const server of [home, agent, hanging, receiver]) await server[Symbol.asyncDispose]()
})

const revoke = (token: string) =>
  home.request('POST', '/a2a/message', {
    token,
    body: { to: 'svc.registry', action: 'revoke', params: { token } },
  })
const headersOf = (token: string) => ({
  'Content-Type': 'application/json',
  Authorization: `Bearer ${token}`,
})
const rest = (method: string, path: string, token: string, body?: object) =>
  home.request(method, `/a2a/v1/${path}`, { headers: a2aVersion, token, body })

async function begin(token: string, at: TestGateway = home, config?: object): Promise<string> {
  const configuration = { returnImmediately: true, ...(config && { taskPushNotificationConfig: config }) }
  const { json } = await at.request('POST', `/a2a/v1/${to}/message:send`, {
    headers: a2aVersion,
    token,
    body: { ...message([{ text: 'go' }]), configuration },
  })
  return json.task.id
}

const watch = (token: string) =>
  fetch(`${home.url}/public/changes?since=0`, {
    headers: { ...headersOf(token), Accept: 'text/event-stream' },
  })

/** Each opens what listens with a token, and resolves when that has ended. */
const listeners: readonly [string, (token: string) => Promise<{ readonly ended: Promise<string> }>][] = [
  [
    'a WebSocket',
    async (token) => {
      const { socket } = await openSocket(`${home.url}/rpc`, ['jsonrpc', `bearer.${token}`])
      return { ended: once(socket, 'close').then(([code]) => String(code)) }
    },
  ],
  [
    'a stream of changes',
    async (token) => ({
      ended: take(eventsOf(await watch(token)), 99).then((all) => JSON.stringify(all.at(-1)?.data)),
    }),
  ],
  [
    'a listener of a task of A2A',
    async (token) => {
      const other = await home.token('ada')
      const id = await begin(other)
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id } })
      const headers = { ...a2aVersion, ...headersOf(token) }
      const events = a2aEventsOf(await fetch(`${home.url}/a2a/v1`, { method: 'POST', headers, body }))
      await events.next()
      return { ended: collect(events).then((all) => JSON.stringify(all.at(-1))) }
    },
  ],
  [
    'a subscription of MCP',
    async (token) => {
      const params = { notifications: { resourcesListChanged: true } }
      const request = modernRequest(1, 'subscriptions/listen', params)
      const answer = await fetch(`${home.url}/mcp`, {
        method: 'POST',
        headers: { ...headersOf(token), ...modernHeaders('subscriptions/listen') },
        body: JSON.stringify(request),
      })
      return { ended: answer.text().then(String, (fault) => String(fault)) }
    },
  ],
]

describe('what listens with a token', () => {
  test.each(listeners)('ends at once when it is revoked: %s', async (_, open) => {
    const token = await home.token('ada')
    const { ended } = await open(token)
    await revoke(token)
    expect(await ended).toMatch(/1008|unauthenticated|terminated/i)
  })

  test.each(listeners)('ends when it has expired: %s', async (_, open) => {
    const token = await home.token('ada', { ttl_s: 60 })
    const { ended } = await open(token)
    // Clocks may differ by five seconds; each revocation looks at all tokens.
    ahead += 65_000
    await revoke(await home.token('somebody'))
    expect(await ended).toMatch(/1008|expired|terminated/i)
  })
})

describe('what runs with a token', () => {
  test('a call to an agent that does not answer ends when it is revoked', async () => {
    const token = await home.token('ada')
    const calling = home.request('POST', '/a2a/message', {
      token,
      body: { to: 'com.example.hanging', action: 'wait', params: {} },
    })
    await expect.poll(() => hanging.hits(), soon).toBeGreaterThan(0)
    await revoke(token)
    expect((await calling).json.code).toBe('unauthenticated')
  })

  test('a task fails when it is revoked, is cancelled at its agent, and its address is told nothing more', async () => {
    const [token, later] = [await home.token('ada'), await home.token('ada')]
    const id = await begin(token, home, { url: `${receiver.origin}/revoked` })
    await expect.poll(() => posted, soon).toEqual(['/revoked'])
    await revoke(token)
    const task = async () => (await rest('GET', `tasks/${id}`, later)).json
    await expect.poll(async () => (await task()).status.state, soon).toBe('TASK_STATE_FAILED')
    expect((await task()).status.message.parts[1].data.error.details[0].reason).toBe('UNAUTHENTICATED')
    await expect.poll(() => cancelled.length, soon).toBeGreaterThan(0)
    expect(posted).toEqual(['/revoked'])
  })

  test('a task of a revoked token does not go on at another gateway either', async () => {
    const times = { grace: 0, lease: 1, heartbeat: 3_600_000 }
    const settings = { DRAGOMAN_ALLOW_ORIGINS: origins, DRAGOMAN_DATA: home.data }
    await using dying = await startGateway(settings, { tasks: { times } })
    const [token, later] = [await home.token('bob'), await home.token('bob')]
    const id = await begin(token, dying)
    await revoke(token)
    await createAbandonedTasks(home.gateway).run(new AbortController().signal)
    await expect
      .poll(async () => (await rest('GET', `tasks/${id}`, later)).json.status.state, soon)
      .toBe('TASK_STATE_FAILED')
  })
})

test('what runs at an agent ends when that is suspended', async () => {
  const [token, admin] = [await home.token('ada'), await home.token('root', { scopes: ['admin'] })]
  const id = await begin(token)
  const path = `/api/agents/${to}/suspend`
  const suspended = await home.request('POST', path, {
    token: admin,
    body: { reason: 'It asks for passwords.' },
  })
  expect(suspended.status).toBe(200)
  const task = async () => (await rest('GET', `tasks/${id}`, token)).json
  await expect.poll(async () => (await task()).status.state, soon).toBe('TASK_STATE_FAILED')
  expect((await task()).status.message.parts[0].text).toBe(`${to} is no longer listed here.`)
})

describe('the end of a credential', () => {
  const credential = { issued_at: 0, jti: '1' }
  const ada = { ...principal('ada'), expires_at: 100, credential }

  function open() {
    let onChange = () => {}
    let isRevoked = false
    let now = 99_000
    const standing: Standing = createStanding({
      revocations: {
        revoked: () => isRevoked,
        onChange: (listener) => {
          onChange = listener
        },
      },
      clock: () => now,
    })
    const revoke = () => {
      isRevoked = true
      onChange()
    }
    return {
      standing,
      revoke,
      pass: (milliseconds: number) => {
        now += milliseconds
      },
    }
  }

  test('is told once, to those who still watch it, also where it has come before', () => {
    const { standing, revoke } = open()
    const ends: string[] = []
    const stop = standing.watch(ada, () => ends.push('stopped'))
    standing.watch(ada, ({ code }) => ends.push(code))
    standing.watch(null, () => ends.push('anonymous'))
    stop()
    revoke()
    revoke()
    standing.watch(ada, () => ends.push('late'))
    expect(ends).toEqual(['unauthenticated', 'late'])
  })

  test('by its time ends what listens, five seconds later, and no work', async () => {
    vi.useFakeTimers()
    try {
      const { standing, pass } = open()
      const ends: string[] = []
      standing.watch(ada, ({ message }) => ends.push(message))
      standing.watch(ada, () => ends.push('work'), 'works')
      for (const [step, expected] of [
        [5900, []],
        [100, ['The token has expired.']],
        [60_000, ['The token has expired.']],
      ] as const) {
        pass(step)
        vi.advanceTimersByTime(step)
        expect(ends).toEqual(expected)
      }
    } finally {
      vi.useRealTimers()
    }
  })
})
