import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    const name = `com.example.${card}`
    let direct: Results
    let forwarded: Results

    async function behave(url: string, token: string): Promise<Results> {
      await using running = run(python ?? '', [script(client), url, token, mode])
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

    if (!behaviours.includes('throw')) return
    test('fails for the caller too when it fails by itself', () => {
      expect(direct.throw).toHaveProperty('error')
      expect(JSON.stringify(forwarded.throw)).toMatch(/error|TASK_STATE_FAILED/)
    })
  })
})

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
