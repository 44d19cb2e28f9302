import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../net/support.ts'
import { freePort } from '../../support/free-port.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { installed } from '../../support/others.ts'
import { type Running, run } from '../../support/processes.ts'

/**
 * Agents on the official Python SDKs, called by the official Python clients: directly, and through a gateway that lists
 * them. What comes back must be the same but for the fields that docs/calling-through.md names.
 */
interface Peer {
  readonly sdk: string
  readonly agent: string
  readonly client: string
  /** The names of its cards, and whether the client streams. */
  readonly cards: readonly { readonly card: string; readonly how: string; readonly mode: 'stream' | 'wait' }[]
  readonly behaviours: readonly string[]
}

const peers: readonly Peer[] = [
  {
    sdk: 'a2a-1.3.0-server',
    agent: 'a2a_agent',
    client: 'a2a_client',
    cards: [
      { card: 'rpc', how: 'over JSON-RPC with streams', mode: 'stream' },
      { card: 'rest', how: 'over HTTP+JSON with streams', mode: 'stream' },
      { card: 'quiet', how: 'over JSON-RPC without streams', mode: 'wait' },
    ],
    behaviours: [
      ...[
        'say',
        'markdown',
        'mixed',
        'files',
        'extension',
        'unicode',
        'stream',
        'artifacts',
        'silent',
        'ask',
      ],
      ...['sign in', 'fail', 'reject', 'echo', 'conversation', 'begun_by_agent', 'answer', 'read_again'],
      ...['cancel_twice', 'unknown_task', 'after_the_end', 'at_once', 'throw'],
    ],
  },
  {
    sdk: 'a2a-0.3.26-server',
    agent: 'a2a_agent_0_3',
    client: 'a2a_client_0_3',
    cards: [{ card: 'old', how: 'in A2A 0.3', mode: 'stream' }],
    behaviours: [
      ...['say', 'mixed', 'files', 'stream', 'ask', 'fail', 'reject', 'answer', 'read_again', 'cancel_twice'],
    ],
  },
]

type Results = Readonly<Record<string, unknown>>

const script = (name: string) => `${import.meta.dirname}/${name}.py`

describe.each(peers)('an agent on $sdk', ({ sdk, agent: agentScript, client, cards, behaviours }) => {
  const python = installed(`${sdk}/bin/python`)
  let agent: Running | undefined
  let gateway: TestGateway
  let origin = ''

  beforeAll(async () => {
    if (!python) return
    const port = await freePort()
    origin = `http://127.0.0.1:${port}`
    agent = run(python, [script(agentScript), String(port)])
    await agent.printed(/Uvicorn running/)
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origin })
  }, 60_000)

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await agent?.[Symbol.asyncDispose]()
  })

  describe.skipIf(!python).each(cards)('$how', ({ card, mode }) => {
    // The slash is in paths and tenants as each client writes them.
    const name = `com.example.peers/${card}`
    const binding = card === 'rest' ? 'HTTP+JSON' : 'JSONRPC'
    let direct: Results
    let forwarded: Results

    async function behave(url: string, token: string): Promise<Results> {
      await using running = run(python ?? '', [script(client), url, token, mode, binding])
      const { code, stdout, stderr } = await running.ended
      expect(code, stderr).toBe(0)
      return JSON.parse(stdout)
    }

    beforeAll(async () => {
      await list(gateway, { package_name: name, manifest_url: `${origin}/${card}.json` })
      await gateway.gateway.verification.checker.run(new AbortController().signal)
      direct = await behave(`${origin}/${card}.json`, '')
      const url = `${gateway.url}/a2a/v1/${name}/.well-known/agent-card.json`
      forwarded = await behave(url, await gateway.token('ada'))
    }, 120_000)

    test.each(behaviours.filter((name) => name !== 'throw'))(
      'is the same through the gateway: %s',
      (behaviour) => {
        expect(direct).toHaveProperty(behaviour)
        expect(comparable(withTask(forwarded[behaviour]))).toEqual(comparable(withTask(direct[behaviour])))
      },
    )

    if (mode === 'stream') {
      test('goes on when its stream breaks, by a new one in 1.0', async () => {
        await using proxy = await openBreakingProxy(origin)
        await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: proxy.origin })
        await list(home, { package_name: name, manifest_url: `${proxy.origin}/${card}.json` })
        await home.gateway.verification.checker.run(new AbortController().signal)
        const token = await home.token('ada')
        const send = async (text: string) => {
          const body = { to: name, action: 'send_message', params: { text } }
          return (await home.request('POST', '/a2a/message', { body, token })).json
        }
        const answer = send('wait for release')
        await expect.poll(() => proxy.requests.some(goesOn), { timeout: 20_000 }).toBe(true)
        expect(await send('release')).toEqual({ text: 'Released' })
        expect(await answer).toEqual({ text: 'chunk0 chunk1' })
        const subscriptions = proxy.requests.filter((request) => subscription.test(request))
        expect(subscriptions).toHaveLength(card === 'old' ? 0 : 1)
      }, 60_000)
    }

    if (!behaviours.includes('throw')) return
    test('fails for the caller too when it fails by itself', () => {
      expect(direct.throw).toHaveProperty('error')
      expect(JSON.stringify(forwarded.throw)).toMatch(/error|TASK_STATE_FAILED/)
    })
  })
})

const subscription = /SubscribeToTask|tasks\/resubscribe|:subscribe/
const goesOn = (request: string) => subscription.test(request) || request.includes('tasks/get')

/** Stands before an agent, and breaks the first stream after the first part of an artifact. */
async function openBreakingProxy(agent: string) {
  const requests: string[] = []
  let isBroken = false
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request
    const body = await text(request)
    requests.push(`${method} ${url} ${body}`.trim())
    const left = new AbortController()
    response.once('close', () => left.abort())
    const sent = await fetch(`${agent}${url}`, {
      method,
      headers: { ...(headers as Record<string, string>), connection: 'close' },
      signal: left.signal,
      ...(body && { body }),
    })
    response.writeHead(sent.status, { 'Content-Type': sent.headers.get('content-type') ?? '' }).flushHeaders()
    for await (const part of sent.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      response.write(part.replaceAll(agent, proxy.origin))
      if (isBroken || !part.includes('chunk0')) continue
      isBroken = true
      return void setImmediate(() => response.destroy())
    }
    response.end()
  }
  // A side that is gone hears nothing more.
  const proxy = await serve(
    (request, response) => void pass(request, response).catch(() => response.destroy()),
  )
  return { requests, origin: proxy.origin, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
}

/** The gateway begins each stream of a task with the task (section 3.1.2), the SDK only that of a new one. */
function withTask(result: unknown): unknown {
  if (!Array.isArray(result) || !JSON.stringify(result).includes('"statusUpdate"')) return result
  return result.filter((event, index) => index > 0 || !('task' in Object(event)))
}

const replaced = new Set([
  'taskId',
  'contextId',
  'timestamp',
  'content_trust',
  'history',
  'createdAt',
  'lastModified',
])

/** Without the fields that the gateway replaces, and without empty metadata and lists of artifacts. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable)
  if (typeof value !== 'object' || value === null) return value
  const isTask = 'status' in value && 'id' in value
  const fields = Object.entries(value)
    .filter(([key]) => !replaced.has(key) && !(isTask && key === 'id'))
    .map(([key, field]): [string, unknown] => [key, comparable(field)])
    .filter(
      ([key, field]) => !['metadata', 'artifacts'].includes(key) || Object.keys(field as object).length > 0,
    )
  return Object.fromEntries(fields)
}
