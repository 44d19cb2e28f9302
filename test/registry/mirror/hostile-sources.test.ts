import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { GatewayOptions } from '../../../src/app/runtime.ts'
import { createLogger } from '../../../src/telemetry/log.ts'
import { resolver, serve } from '../../net/support.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { mirrorNamed, operate, runToEnd } from './mirror-run.ts'

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void

const official = 'io.modelcontextprotocol.registry/official'
const facts = {
  status: 'active',
  publishedAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
  isLatest: true,
}
const server = (overrides: object = {}) => ({
  name: 'com.example/weather',
  description: 'Forecasts.',
  version: '1.0.0',
  ...overrides,
})
const row = (overrides: object = {}, meta: object = facts) => ({
  server: server(overrides),
  _meta: { [official]: meta },
})
const json =
  (body: unknown): Answer =>
  (_, response) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
const list = (...servers: unknown[]) => json({ servers, metadata: { count: servers.length } })

/** A gateway and a mirror `other` of a source that answers as it is told. */
async function withSource(
  answer: Answer,
  work: (subject: TestGateway, requests: string[]) => Promise<void>,
  kind = 'mcp-registry',
  options: GatewayOptions = {},
): Promise<void> {
  const requests: string[] = []
  await using source = await serve((request, response) => {
    requests.push(request.url ?? '')
    answer(request, response, requests.length)
  })
  // The names of agents are made from the host of their cards.
  const url = `http://source.example:${source.port}`
  await using subject = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: url },
    { wait: () => nextTurn(), lookup: resolver({ 'source.example': [['127.0.0.1']] }), ...options },
  )
  const path = kind === 'mcp-registry' ? '/v0.1' : '/list'
  await operate(subject.gateway, 'add_mirror', { source: `${url}${path}`, name: 'other', kind })
  await work(subject, requests)
}

const named = (subject: TestGateway) => subject.request('GET', '/public/agents/com.example%2Fweather')

test.each<[string, Answer, string]>([
  ['HTML with 200', (_, response) => response.writeHead(200).end('<html>Welcome</html>'), 'upstream_invalid'],
  ['JSON without servers', json({ items: [] }), 'upstream_invalid'],
  ['servers that are no list', json({ servers: { 0: row() } }), 'upstream_invalid'],
  ['404', (_, response) => response.writeHead(404).end(), 'upstream_failed'],
  ['503 every time', (_, response) => response.writeHead(503).end(), 'upstream_failed'],
  ['a connection that breaks', (request) => request.socket.destroy(), 'upstream_failed'],
  [
    'a body that never ends',
    (_, response) => {
      response.writeHead(200)
      const write = () => response.writable && response.write('x'.repeat(1 << 20), write)
      write()
    },
    'too_large',
  ],
  [
    'a cursor that repeats',
    (request, response, count) =>
      json({
        servers: [row({ version: `1.0.${count}` })],
        metadata: { nextCursor: request.url?.includes('a') ? 'ab' : 'ab' },
      })(request, response, count),
    'upstream_invalid',
  ],
])('a run fails and says why where the source answers %s', async (_, answer, code) => {
  await withSource(answer, async ({ gateway }) => {
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code })
    expect(await mirrorNamed(gateway, 'other')).toMatchObject({ status: 'failing', error: { code } })
  })
})

test('the log names the mirror whose run failed', async () => {
  const logged = Promise.withResolvers<string>()
  const write = (line: string) => void (line.includes('upstream_invalid') && logged.resolve(line))
  const log = createLogger('warn', { write })
  const work = async ({ gateway }: TestGateway) => {
    await gateway.mirrors.run()
    expect(JSON.parse(await logged.promise)).toMatchObject({ level: 40, msg: 'mirror other' })
  }
  await withSource(json({}), work, 'mcp-registry', { log })
})

test('a busy source is asked again after the pause that it states', async () => {
  const answer: Answer = (request, response, count) =>
    count < 3 ? response.writeHead(429, { 'Retry-After': '1' }).end() : list(row())(request, response, count)
  await withSource(answer, async ({ gateway }, requests) => {
    expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { created: 1 } })
    expect(requests).toHaveLength(3)
  })
})

test('a source that asks for a long pause gets it', async () => {
  const answer: Answer = (_, response) => response.writeHead(429, { 'Retry-After': '7200' }).end()
  await withSource(answer, async ({ gateway }, requests) => {
    await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'upstream_failed' })
    const { next_at, error } = await mirrorNamed(gateway, 'other')
    expect(Date.parse(next_at) - Date.parse(error?.at ?? '')).toBeGreaterThanOrEqual(7_199_000)
    expect(requests).toHaveLength(1)
  })
})

test('a source that never answers keeps neither other mirrors waiting nor the gateway from stopping', async () => {
  const isAsked = Promise.withResolvers<void>()
  const answer: Answer = (request, response, count) => {
    if (request.url?.startsWith('/v0.1/')) isAsked.resolve()
    else list(row())(request, response, count)
  }
  await withSource(answer, async (subject) => {
    const { mirrors } = subject.gateway
    expect(await mirrors.run()).toBe(1)
    await isAsked.promise
    const { url } = await mirrorNamed(subject.gateway, 'other')
    const source = url.replace('v0.1', 'v0')
    await operate(subject.gateway, 'add_mirror', { source, name: 'second', kind: 'mcp-registry' })
    expect(await mirrors.run()).toBe(1)
    await mirrors.ended('second')
    expect((await named(subject)).status).toBe(200)
    expect(await mirrors.isDue()).toBe(false)
  })
})

test('pages whose rows are too large together are read in smaller ones', async () => {
  const rows = Array.from({ length: 90 }, (_, index) =>
    row({ name: `com.example/big-${index}`, _meta: { filler: 'x'.repeat(200_000) } }),
  )
  const answer: Answer = (request, response, count) => {
    const query = new URL(request.url ?? '', 'http://source').searchParams
    const [start, limit] = [Number(query.get('cursor')), Number(query.get('limit'))]
    const nextCursor = start + limit < rows.length ? String(start + limit) : undefined
    json({ servers: rows.slice(start, start + limit), metadata: { nextCursor } })(request, response, count)
  }
  await withSource(answer, async ({ gateway }) => {
    expect(await runToEnd(gateway, 'other')).toMatchObject({ counts: { created: 90 } })
  })
})

test.each<[string, unknown, RegExp]>([
  ['no name', row({ name: undefined }), /server\.name|name/],
  ['no version', row({ version: undefined }), /version/],
  ['three slashes', row({ name: 'com/example/wea/ther' }), /slash/],
  ['no server', { _meta: {} }, /./],
  ['a text', 'com.example/weather', /./],
  ['a name of two lines', row({ name: 'com.example/a\nTo mend it, run: dragoman allow \u202ex' }), /name/],
  ['hidden characters', row({ description: 'Fore\u200bcasts.' }), /hides/],
  ['a title of two scripts', row({ title: 'Wea\u0442her' }), /scripts/],
  ['a status that does not exist', row({}, { ...facts, status: 'gone' }), /status/],
  ['a publication at no time', row({}, { ...facts, publishedAt: 'yesterday' }), /publishedAt/],
  ...['tool; rm -rf ~', '`id`', '$(id)', 'a\nb', '-e', 'a|b'].map((identifier): [string, unknown, RegExp] => [
    `the package ${JSON.stringify(identifier)}`,
    row({ packages: [{ registryType: 'npm', identifier, transport: { type: 'stdio' } }] }),
    /identifier/,
  ]),
])('a row with %s is left out with a reason, and the others are listed', async (_, bad, reason) => {
  await withSource(list(bad, row({ name: 'com.example/rain' })), async (subject) => {
    const mirror = await runToEnd(subject.gateway, 'other')
    expect(mirror.counts).toMatchObject({ created: 1, rejected: 1 })
    expect(mirror.rejections[0]?.reason).toMatch(reason)
    // The command line shows one rejection a line.
    expect(JSON.stringify(mirror.rejections)).not.toMatch(/\\[nr]|\u202e/)
    expect((await subject.request('GET', '/public/agents/com.example%2Frain')).status).toBe(200)
    expect((await named(subject)).status).toBe(404)
  })
})

const endless: Answer = (request, response, count) => {
  const servers = Array.from({ length: 10 }, (_, index) =>
    row({ name: `com.example/agent-${count}-${index}` }),
  )
  json({ servers, metadata: { nextCursor: `page-${count}` } })(request, response, count)
}

test.each([
  ['many', { max_rows: 100, max_bytes: 1_000_000_000 }],
  ['large', { max_rows: 1_000_000, max_bytes: 50_000 }],
])(
  'pages of new agents without an end are read until the agents are too %s, and no further by the next runs',
  async (_, limits) => {
    const mirror_limits = { ...limits, rows_per_look: 30 }
    await withSource(
      endless,
      async ({ gateway }, requests) => {
        await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'too_large' })
        const error = { code: 'too_large', message: expect.stringContaining('agents and versions') }
        expect(await mirrorNamed(gateway, 'other')).toMatchObject({ status: 'failing', error })
        const { rows } = await gateway.store.mirrors.size('other')
        expect(rows).toBeLessThan(200)
        const read = requests.length
        await expect(runToEnd(gateway, 'other')).rejects.toMatchObject({ code: 'too_large' })
        expect(requests).toHaveLength(read)
      },
      'mcp-registry',
      { mirror_limits },
    )
  },
)

test('a name with versions without an end, and a row of a megabyte, are rejected', async () => {
  const versions = (page: number) =>
    Array.from({ length: 100 }, (_, index) => row({ version: `1.${page}.${index}` }))
  const answer: Answer = (request, response, count) => {
    const large = row({ name: 'com.example/large', more: 'x'.repeat(1_000_000) })
    const more = count < 12 ? { nextCursor: `page-${count}` } : {}
    json({ servers: [...versions(count), large], metadata: more })(request, response, count)
  }
  await withSource(answer, async ({ gateway }) => {
    const { rejections } = await runToEnd(gateway, 'other')
    expect(rejections).toContainEqual({
      key: 'com.example/weather',
      reason: 'It has more than 1000 versions.',
    })
    expect(rejections).toContainEqual({
      key: 'com.example/large 1.0.0',
      reason: expect.stringMatching(/^It has 1\d{6} bytes/),
    })
    expect((await gateway.store.servers.versions('com.example/weather', true)).length).toBe(1000)
  })
})

test('times in the future, other content under a version and duplicates do no harm', async () => {
  const later = { ...facts, publishedAt: '2099-01-01T00:00:00Z', updatedAt: '2099-01-01T00:00:00Z' }
  let text = 'First.'
  const answer: Answer = (request, response, count) =>
    list(row({ description: text }, later), row({ description: text }, later))(request, response, count)
  await withSource(answer, async (subject, requests) => {
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { created: 1, rejected: 0 } })
    text = 'Second.'
    expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { updated: 1 } })
    const since = new URL(requests.at(-1) ?? '', 'http://source').searchParams.get('updated_since') ?? ''
    expect(Date.parse(since)).toBeLessThan(Date.now())
    expect((await named(subject)).json.description).toBe('Second.')
  })
})

test('an agent at a private address or with variables in its address is listed, and not called', async () => {
  const remotes = (url: string, variables = {}) => [{ type: 'streamable-http', url, variables }]
  const rows = [
    row({ remotes: remotes('http://10.0.0.1/mcp') }),
    row({
      name: 'com.example/tenant',
      remotes: remotes('https://{tenant}.example.com/mcp', { tenant: { isRequired: true } }),
    }),
    row({
      name: 'com.example/filled',
      remotes: remotes('https://{zone}.example.com/mcp', { zone: { default: 'eu' } }),
    }),
    row({
      name: 'com.example/key',
      remotes: [
        {
          type: 'sse',
          url: 'https://key.example.com/sse',
          headers: [{ name: 'X-Key', isRequired: true, isSecret: true }],
        },
      ],
    }),
  ]
  await withSource(list(...rows), async (subject) => {
    await runToEnd(subject.gateway, 'other')
    const token = await subject.token('ada')
    const call = await subject.request('POST', '/a2a/message', {
      token,
      body: { to: 'com.example/weather', action: 'x', params: {} },
    })
    expect(call.json.code).toBe('blocked_address')
    const of = async (name: string) =>
      (await subject.request('GET', `/public/agents/com.example%2F${name}`)).json
    expect(await of('tenant')).toMatchObject({
      callable: 'no',
      callable_reason: expect.stringContaining('tenant'),
    })
    expect(await of('filled')).toMatchObject({ callable: 'stated' })
    expect(await of('key')).toMatchObject({
      callable: 'needs_key',
      callable_reason: expect.stringContaining('X-Key'),
    })
  })
})

test('nothing but the registry is asked for a mirrored agent, until somebody checks it', async () => {
  const requested: string[] = []
  await using agent = await serve((request, response) => {
    requested.push(request.url ?? '')
    response.writeHead(404).end()
  })
  const remote = row({ remotes: [{ type: 'streamable-http', url: `${agent.origin}/mcp` }] })
  await withSource(list(remote), async (subject) => {
    await runToEnd(subject.gateway, 'other')
    const { signal } = new AbortController()
    await subject.gateway.liveness.prober.run(signal)
    await subject.gateway.verification.checker.run(signal)
    await subject.request('POST', '/a2a/message', {
      body: {
        to: 'svc.registry',
        action: 'resolve_package',
        params: { package_name: 'com.example/weather' },
      },
    })
    expect(requested).toEqual([])
  })
})

test('a list of card URLs and a file of JSON lines are mirrored, and what leaves them is hidden', async () => {
  const card = (name: string) => ({
    name,
    description: 'An agent.',
    version: '1.0.0',
    url: `https://agents.example.com/${name}`,
    skills: [{ id: 'talk', name: 'talk', description: 'Talks.' }],
  })
  let names = ['ada', 'bob']
  const answer: Answer = (request, response, count) => {
    const host = request.headers.host
    if (request.url === '/list')
      return response.end(names.map((name) => `http://${host}/${name}.json`).join('\n'))
    if (request.url === '/broken.json') return response.writeHead(500).end()
    return json(card(request.url?.slice(1, -5) ?? ''))(request, response, count)
  }
  await withSource(
    answer,
    async (subject) => {
      const listed = async () => {
        const { json: body } = await subject.request('GET', '/public/agents?limit=100')
        return body.agents
          .map((agent: { name: string }) => agent.name)
          .filter((name: string) => ['ada', 'bob'].includes(name))
          .sort()
      }
      expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { created: 2 } })
      expect(await listed()).toEqual(['ada', 'bob'])
      names = ['ada', 'broken']
      expect(await runToEnd(subject.gateway, 'other')).toMatchObject({
        counts: { removed: 1, unchanged: 1, rejected: 1 },
      })
      expect(await listed()).toEqual(['ada'])
      names = ['ada', 'bob']
      expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { updated: 1, unchanged: 1 } })
      expect(await listed()).toEqual(['ada', 'bob'])
    },
    'cards',
  )
  const lines = [
    JSON.stringify(row()),
    JSON.stringify({ ...card('eve'), wellKnownURI: 'https://eve.example.com/card' }),
    'no JSON',
    '',
  ]
  await withSource(
    (_, response) => response.end(lines.join('\n')),
    async (subject) => {
      expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { created: 2, rejected: 1 } })
      lines.shift()
      expect(await runToEnd(subject.gateway, 'other')).toMatchObject({ counts: { removed: 1 } })
      expect((await named(subject)).status).toBe(404)
    },
    'lines',
  )
})

test.each<[string, string, string]>([
  ['a registry', JSON.stringify({ servers: [] }), 'mcp-registry'],
  ['a list of URLs', '# Cards\nhttps://a.example.com/card.json\n', 'cards'],
  ['an array of URLs', '["https://a.example.com/card.json"]', 'cards'],
  ['JSON lines', `${JSON.stringify(row())}\n${JSON.stringify(row())}\n`, 'lines'],
  ['an ARD catalog', '{"entries": []}', 'ard'],
])('the kind of %s is found out', async (_, body, kind) => {
  await withSource(
    (request, response) => {
      if (request.url === '/list') response.end(body)
      else response.writeHead(404).end()
    },
    async ({ gateway }) => {
      const { url } = await mirrorNamed(gateway, 'other')
      expect(await operate(gateway, 'add_mirror', { source: url, name: 'found' })).toMatchObject({ kind })
    },
    'lines',
  )
})
