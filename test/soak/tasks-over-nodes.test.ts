import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serve } from '../net/support.ts'
import { a2aVersion } from '../support/a2a.ts'
import { type AnswerStream, serveRpcAgent } from '../support/a2a-rpc-agent.ts'
import { collect, eventsOf, gist } from '../support/a2a-server.ts'
import { temporaryFolder } from '../support/command.ts'
import { postgresFolder, startPostgres } from '../support/postgres.ts'
import type { Served } from '../support/serve.ts'
import { ask, expectAnswered, startNodes } from './nodes.ts'

const patient = { timeout: 150_000, interval: 1000 }
const isEnd = (word = '') => /^(completed|failed|canceled)$/.test(word)

/** An agent whose tasks work until the test ends them. */
async function openAgent() {
  const tasks = new Map<string, { status: { state: string } }>()
  const streams = new Map<string, AnswerStream[]>()
  const agent = await serveRpcAgent({ name: 'Researcher' }, ({ method, params, ...call }) => {
    const id = params.id ?? params.message.parts[0].text
    const task = tasks.get(id) ?? {
      id,
      contextId: 'c',
      status: { state: 'TASK_STATE_WORKING' },
      artifacts: [],
    }
    tasks.set(id, task)
    if (method !== 'SendStreamingMessage' && method !== 'SubscribeToTask') return call.result(task)
    const stream = call.stream()
    streams.set(id, [...(streams.get(id) ?? []), stream])
    stream.write({ task })
  })
  return {
    agent,
    complete(id: string) {
      const status = { state: 'TASK_STATE_COMPLETED' }
      Object.assign(tasks.get(id) ?? {}, { status })
      for (const stream of streams.get(id) ?? [])
        stream.write({ statusUpdate: { taskId: id, contextId: 'c', status } })
    },
  }
}

test.skipIf(!postgresFolder)(
  'tasks over two gateways have one end, which each listener hears once and each address once: one gateway is frozen, then PostgreSQL is away',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { agent, complete } = await openAgent()
    stack.use(agent)
    const posts: string[] = []
    const other = stack.use(
      await serve(async (request, response) => {
        if (request.url === '/hanging') return
        const { task, statusUpdate } = JSON.parse(await text(request))
        posts.push(`${request.url} ${gist({ statusUpdate: { status: (task ?? statusUpdate).status } })}`)
        response.writeHead(204).end()
      }),
    )
    const postgres = stack.use(await startPostgres())
    const folders = stack.use(await temporaryFolder())
    const paths = ['a', 'b'].map((name) => join(folders.path, name))
    await Promise.all(paths.map((folder) => mkdir(folder)))
    const settings = {
      DATABASE_URL: await postgres.createDatabase(),
      DRAGOMAN_ALLOW_ORIGINS: `${agent.origin},${other.origin}`,
    }
    const nodes = stack.use(await startNodes(paths, settings))
    const { token } = nodes
    const [first, second] = nodes.up() as [Served, Served]

    const list = async (package_name: string, rest: object) => {
      const published = await expectAnswered(first, 'POST', '/api/agents/publish', {
        token,
        body: { package_name, ...rest },
      })
      await expectAnswered(first, 'POST', `/api/agents/${published.json.id}/go-live`, { token })
    }
    await list('com.example.researcher', { manifest_url: `${agent.origin}/.well-known/agent-card.json` })
    await list('com.example.hanging', {
      name: 'Hanging',
      description: 'Never answers.',
      endpoints: [{ protocol: 'envelope', url: `${other.origin}/hanging` }],
    })
    await expect
      .poll(
        async () => (await ask(first, 'GET', '/public/agents/com.example.researcher'))?.json.protocol,
        patient,
      )
      .toBe('a2a')

    const headers = { ...a2aVersion, 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    const rpc = (at: Served, method: string, params: object) =>
      fetch(`${at.url}/a2a/v1`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      })
    const listeners = new Map<string, Promise<string[]>>()
    const begin = async (at: Served, name: string, tenant = 'com.example.researcher') => {
      const parts = [tenant.endsWith('hanging') ? { data: { action: 'wait', params: {} } } : { text: name }]
      const configuration = {
        returnImmediately: true,
        taskPushNotificationConfig: { url: `${other.origin}/${name}` },
      }
      const message = { messageId: 'm', role: 'ROLE_USER', parts }
      const { result } = (await (
        await rpc(at, 'SendMessage', { tenant, message, configuration })
      ).json()) as {
        result: { task: { id: string } }
      }
      const { id } = result.task
      for (const [where, node] of Object.entries({ first, second })) {
        const events = eventsOf(await rpc(node, 'SubscribeToTask', { id }))
        listeners.set(
          `${name} at the ${where}`,
          collect(events).then((all) => all.map(gist)),
        )
      }
      return id
    }
    const stateAt = async (at: Served, id: string) => {
      const answer = await ask(at, 'GET', `/a2a/v1/tasks/${id}?A2A-Version=1.0`, { token })
      return gist({ statusUpdate: { status: answer?.json.status ?? { state: 'none' } } })
    }

    const ids = {
      followed: await begin(first, 'followed'),
      lost: await begin(first, 'lost', 'com.example.hanging'),
      living: await begin(second, 'living'),
    }
    await expect.poll(() => posts.length, patient).toBe(3)

    first.process.kill('SIGSTOP')
    await expect.poll(() => stateAt(second, ids.lost), patient).toBe('failed')
    complete('followed')
    await expect.poll(() => stateAt(second, ids.followed), patient).toBe('completed')
    first.process.kill('SIGCONT')
    await expect.poll(() => stateAt(first, ids.followed), patient).toBe('completed')
    expect(await stateAt(first, ids.lost)).toBe('failed')

    await postgres.stop()
    // Longer than a lease.
    await pause(50_000)
    await postgres.start()
    await expect.poll(() => stateAt(first, ids.living), patient).toBe('working')
    // Longer than the grace after which a task is taken over.
    await pause(30_000)
    complete('living')
    await expect.poll(() => stateAt(first, ids.living), patient).toBe('completed')
    await expect.poll(() => posts.length, patient).toBe(6)
    expect(posts.slice(3).toSorted()).toEqual(['/followed completed', '/living completed', '/lost failed'])
    for (const [name, events] of listeners) expect((await events).filter(isEnd), name).toHaveLength(1)
  },
)
