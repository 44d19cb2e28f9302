import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord } from '../../../../schemas/json.ts'
import { a2aVersion } from '../../../support/a2a.ts'
import { startGateway, type TestGateway } from '../../../support/gateway.ts'
import { list } from '../../../support/listed.ts'
import { installed } from '../../../support/others.ts'
import { run } from '../../../support/processes.ts'

const python = installed('fastmcp-4.1.2/bin/python')
const script = (name: string) => `${import.meta.dirname}/${name}`

interface Behaviour {
  readonly name: string
  readonly value: unknown
  readonly events: readonly unknown[]
}

const package_name = 'com.example.toolbox'

/** What a client may see differently through the gateway (docs/calling-through.md, What is not passed as it is). */
function withoutListed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutListed)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key.startsWith('dragoman/')) return []
    if (key === 'message' && typeof inner === 'string')
      return [[key, inner.replace(`${package_name} asks: `, '')]]
    const plain = withoutListed(inner)
    return key === '_meta' && isRecord(plain) && Object.keys(plain).length === 0 ? [] : [[key, plain]]
  })
  return Object.fromEntries(entries)
}

describe.skipIf(!python)('FastMCP, where .ci/run has installed it', () => {
  let server: ReturnType<typeof run>
  let gateway: TestGateway
  let direct: string
  let token: string

  beforeAll(async () => {
    server = run(python ?? '', [script('server.py')])
    const lines = createInterface({ input: server.process.stdout as NodeJS.ReadableStream })
    const [port] = await once(lines, 'line')
    direct = `http://127.0.0.1:${port}/mcp`
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(direct).origin })
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: direct }] })
    token = await gateway.token('ada')
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await gateway?.[Symbol.asyncDispose]()
  })

  async function behaviours(mode: string, url: string, CLIENT_TOKEN = ''): Promise<Map<string, Behaviour>> {
    await using client = run(python ?? '', [script('client.py'), mode, url], { CLIENT_TOKEN })
    const { stdout, stderr, code } = await client.ended
    expect(code, stderr).toBe(0)
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Behaviour)
    return new Map(found.map((behaviour) => [behaviour.name, behaviour]))
  }

  test.each([
    ['the revisions with initialize', 'legacy'],
    ['2026-07-28', 'auto'],
  ])('behaves through the gateway as it does when it is called directly, in %s', async (_, mode) => {
    const through = behaviours(mode, `${gateway.url}/mcp/agents/${package_name}`, token)
    const [own, passed] = [await behaviours(mode, direct), await through]
    expect(own.size).toBeGreaterThanOrEqual(34)
    const different = [...own].flatMap(([name, { value, events }]) => {
      const found = passed.get(name)
      const left = withoutListed({ value, events })
      const right = withoutListed({ value: found?.value, events: found?.events })
      return isDeepStrictEqual(left, right) ? [] : [{ name, direct: left, through: right }]
    })
    expect(different).toEqual([])
  })

  const png = expect.stringMatching(/^iVBOR/)
  const wav = expect.stringMatching(/^UklGR/)
  const link = {
    url: 'https://example.com/a.pdf',
    filename: 'a.pdf',
    mediaType: 'application/pdf',
    metadata: { mcp: { title: 'A', description: 'A paper', size: 12 } },
  }
  const note = {
    text: '# Note',
    mediaType: 'text/markdown',
    metadata: { mcp: { resource: { uri: 'note://1' } } },
  }
  const first = { text: 'first', metadata: { mcp: { annotations: { audience: ['user'], priority: 0.5 } } } }
  const deep = { b: [1, null], a: { deep: true } }

  /** What each tool says, to a caller of REST and to one of A2A, by the tables of docs/calling-through.md. */
  const conversions: readonly (readonly [string, object, unknown, readonly object[]])[] = [
    ['say', { words: 'Grüße\n世界' }, { text: 'Grüße\n世界' }, [{ text: 'Grüße\n世界' }]],
    ['say', { words: '{"a": [1, 2]}' }, { a: [1, 2] }, [{ text: '{"a": [1, 2]}' }]],
    [
      'weather',
      { city: 'Oslo' },
      { city: 'Oslo', degrees: 21.5 },
      [{ data: { city: 'Oslo', degrees: 21.5 }, mediaType: 'application/json' }],
    ],
    ['numbers', { count: 2 }, { result: [0, 1] }, [{ data: { result: [0, 1] } }]],
    [
      'picture',
      {},
      { content: [{ media_type: 'image/png', base64: png }] },
      [{ raw: png, mediaType: 'image/png' }],
    ],
    [
      'sound',
      {},
      { content: [{ media_type: 'audio/wav', base64: wav }] },
      [{ raw: wav, mediaType: 'audio/wav' }],
    ],
    [
      'link',
      {},
      { content: [{ uri: 'https://example.com/a.pdf', media_type: 'application/pdf', name: 'a.pdf' }] },
      [link],
    ],
    [
      'embedded',
      {},
      {
        content: [
          { uri: 'note://1', media_type: 'text/markdown', text: '# Note' },
          { uri: 'note://2', media_type: 'image/png', base64: png },
        ],
      },
      [note, { raw: png, mediaType: 'image/png' }],
    ],
    [
      'mixed',
      {},
      {
        data: deep,
        content: [{ text: 'first' }, { media_type: 'image/png', base64: png }, { text: 'last' }],
      },
      [first, { raw: png }, { text: 'last' }, { data: deep }],
    ],
    ['work', {}, { result: 'worked' }, [{ data: { result: 'worked' } }]],
  ]

  test.each(conversions)(
    'says the same in the forms of REST and A2A: %s %j',
    async (tool, params, output, parts) => {
      const body = { to: package_name, action: tool, params }
      const rest = await gateway.request('POST', '/a2a/message', { body, token })
      expect(rest.json).toEqual(output)
      expect(rest.headers.get('X-Content-Trust')).toBe('untrusted')
      const message = {
        messageId: 'm',
        role: 'ROLE_USER',
        parts: [{ data: params }],
        metadata: { skillId: tool },
      }
      const a2a = await gateway.request('POST', `/a2a/v1/${package_name}/message:send`, {
        body: { message },
        token,
        headers: a2aVersion,
      })
      const answer = a2a.json.task?.artifacts?.flatMap((artifact: { parts: object[] }) => artifact.parts)
      expect(answer ?? a2a.json).toMatchObject(parts)
      expect(answer).toHaveLength(parts.length)
    },
  )

  test.each([
    ['fail', {}, 'upstream_failed', 'It failed because so'],
    ['weather', { city: ['Oslo'] }, expect.stringMatching(/^(invalid_request|upstream_failed)$/), 'city'],
    ['weathr', {}, 'unknown_action', 'weathr'],
  ])(
    'fails in its own words, or the gateway says what is wrong: %s %j',
    async (tool, params, code, words) => {
      const body = { to: package_name, action: tool, params }
      const rest = await gateway.request('POST', '/a2a/message', { body, token })
      expect(rest.json).toMatchObject({ code, detail: expect.stringContaining(words), retryable: false })
    },
  )
})
