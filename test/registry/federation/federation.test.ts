import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { systemWait, type Wait } from '../../../src/common/clock.ts'
import { serve } from '../../net/support.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { verify } from '../../support/verified.ts'

const stack: AsyncDisposable[] = []
afterEach(async () => {
  for (const resource of stack.splice(0).reverse()) await resource[Symbol.asyncDispose]()
})

async function upstream(listener: RequestListener) {
  const server = await serve(listener)
  stack.push(server)
  return { ...server, url: `${server.origin}/ard` }
}

const answering =
  (body: unknown, status = 200, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body))

const result = (name: string, members: object = {}) => ({
  identifier: `urn:air:far.example:${name}`,
  displayName: name,
  type: 'application/mcp-server-card+json',
  url: `https://far.example/${name}.json`,
  score: 70,
  source: 'https://elsewhere.example',
  ...members,
})

/** Has a gateway wait 20 s for other registries instead of 400 ms. */
const patient: Wait = (milliseconds, signal) =>
  systemWait(milliseconds === 400 ? 20_000 : milliseconds, signal)

async function start(
  name: string,
  upstreams: readonly string[],
  options: Parameters<typeof startGateway>[1] = {},
): Promise<TestGateway> {
  const home = await startGateway(
    { DRAGOMAN_BASE_URL: `https://${name}.example`, DRAGOMAN_FEDERATION: upstreams.join(',') },
    { wait: patient, ...options },
  )
  stack.push(home)
  await list(home, {
    package_name: `com.${name}.weather`,
    name: `weather of ${name}`,
    description: 'Weather forecast.',
    endpoints: [{ protocol: 'mcp', url: `https://mcp.${name}.example/` }],
  })
  return home
}

const ardSearch = (home: TestGateway, rest: object = {}) =>
  home.request('POST', '/ard/search', { body: { query: { text: 'weather forecast' }, ...rest } })

const action = (home: TestGateway, params: object) =>
  home.request('POST', '/a2a/message', {
    body: {
      to: 'svc.registry',
      action: 'search_agents',
      params: { query: 'weather forecast', federation: 'auto', ...params },
    },
  })

const identifiers = (results: { identifier: string }[]) => results.map(({ identifier }) => identifier)

describe('a search with federation', () => {
  test('merges the results of another registry by rank and names their source', async () => {
    const requests: unknown[] = []
    const far = await upstream(async (request, response) => {
      requests.push([request.method, request.url, await bodyOf(request)])
      answering({ results: [result('first'), result('second')] })(request, response)
    })
    const home = await start('home', [far.url])
    const { json } = await ardSearch(home, { pageSize: 3 })
    expect(identifiers(json.results)).toEqual([
      'urn:air:home.example:com.home.weather',
      'urn:air:far.example:first',
      expect.any(String),
    ])
    expect(json.results[0].source).toBe('https://home.example/ard')
    expect(json.results[1]).toEqual({ ...result('first'), source: far.url })
    expect(requests).toEqual([
      ['POST', '/ard/search', { query: { text: 'weather forecast' }, federation: 'none', pageSize: 3 }],
    ])
  })

  test('shows agents of others apart, without ids and verification of ours', async () => {
    const far = await upstream(
      answering({ results: [result('first', { id: 'x', verification_level: 'domain_verified' })] }),
    )
    const home = await start('home', [far.url])
    for (const detail of ['full', 'brief']) {
      const { json, headers } = await action(home, { detail })
      expect(headers.get('x-content-trust')).toBe('untrusted')
      expect(json.others).toEqual([
        {
          source: far.url,
          identifier: 'urn:air:far.example:first',
          name: 'first',
          description: '',
          type: 'application/mcp-server-card+json',
          url: 'https://far.example/first.json',
          tags: [],
          score: 70,
          position: 1,
        },
      ])
      expect(json.upstreams).toEqual([{ url: far.url, status: 'answered', results: 1 }])
      expect(json.agents.map(({ package_name }: { package_name: string }) => package_name)).toContain(
        'com.home.weather',
      )
    }
  })

  test('has no mark of third parties without agents of others', async () => {
    const far = await upstream(answering({ results: [] }))
    const { headers } = await action(await start('home', [far.url]), {})
    expect(headers.get('x-content-trust')).toBeNull()
  })

  test('asks nobody unless the caller says so', async () => {
    const far = await upstream(answering({ results: [result('first')] }))
    const home = await start('home', [far.url])
    const plain = await home.request('GET', '/public/agents?q=weather')
    expect([plain.status, plain.json.others]).toEqual([200, undefined])
    await ardSearch(home, { federation: 'none' })
    await home.request('POST', '/ard/explore', {
      body: { query: { text: 'weather' }, resultType: { facets: [{ field: 'type' }] } },
    })
    await home.request('GET', `/ard/agents/${encodeURIComponent('urn:air:far.example:first')}`)
    expect(far.hits()).toBe(0)
  })

  test('refers to the other registries without asking them', async () => {
    const far = await upstream(answering({ results: [] }))
    const home = await start('home', [far.url])
    const { json } = await ardSearch(home, { federation: 'referrals' })
    const { host } = new URL(far.url)
    expect(json.referrals).toEqual([
      {
        identifier: `urn:air:${host.replaceAll(/[.:]/g, '-')}.localhost:dragoman:registry:${host.replace(':', '-')}-ard`,
        displayName: `${host}/ard`,
        type: 'application/ai-registry+json',
        url: far.url,
      },
    ])
    const skills = { text: 'weather', filter: { type: ['application/ai-skill'] } }
    const other = await ardSearch(home, { query: skills, federation: 'referrals' })
    expect(other.json).toEqual({ results: [], referrals: json.referrals })
    expect((await action(home, { federation: 'referrals' })).json.upstreams).toEqual([
      { url: far.url, status: 'not_asked', results: 0 },
    ])
    expect(far.hits()).toBe(0)
  })

  test('loses and repeats none of its own agents over the pages', async () => {
    const far = await upstream(answering({ results: [result('a'), result('b'), result('c')] }))
    const home = await start('home', [far.url])
    for (const word of ['one', 'two', 'three', 'four']) {
      await list(home, {
        package_name: `com.home.${word}`,
        description: `Weather forecast ${word}.`,
        endpoints: [{ protocol: 'mcp', url: `https://mcp.home.example/${word}` }],
      } as Parameters<typeof list>[1])
    }
    const whole = await ardSearch(home, { federation: 'none', pageSize: 100 })
    const own: string[] = []
    let pageToken: string | undefined
    do {
      const { json } = await ardSearch(home, { pageSize: 3, ...(pageToken && { pageToken }) })
      expect(json.results.length).toBeLessThanOrEqual(3)
      own.push(...identifiers(json.results).filter((identifier) => identifier.includes('home.example')))
      pageToken = json.pageToken
    } while (pageToken)
    expect(own).toEqual(identifiers(whole.json.results))
  })

  test('passes filters on, and drops results that do not meet them', async () => {
    const bodies: unknown[] = []
    const far = await upstream(async (request, response) => {
      bodies.push(await bodyOf(request))
      answering({ results: [result('a'), result('b', { type: 'application/a2a-agent-card+json' })] })(
        request,
        response,
      )
    })
    const home = await start('home', [far.url])
    const filter = { type: ['application/mcp-server-card+json'], tags: ['sea', 'air'] }
    const { json } = await ardSearch(home, { query: { text: 'weather', filter } })
    expect(bodies).toMatchObject([{ query: { text: 'weather', filter } }])
    expect(identifiers(json.results)).toEqual(['urn:air:far.example:a'])
    const local = await action(home, { filters: { callable: ['stated'] } })
    expect(local.json.upstreams).toMatchObject([
      { status: 'skipped', detail: expect.stringContaining('callable') },
    ])
    expect(bodies).toHaveLength(1)
  })

  test('leaves out what claims to be an agent of this registry', async () => {
    const forged = [
      result('x', { identifier: 'urn:air:home.example:com.home.weather', displayName: 'Forged' }),
      result('x', { identifier: 'urn:air:HOME.example:com.home.other', displayName: 'Forged' }),
      result('x', { identifier: 'urn:air:owner.example:com.home.verified', displayName: 'Forged' }),
      result('x', { identifier: 'urn:air:OWNER.example:Com.Home.Verified', displayName: 'Forged' }),
      result('x', { identifier: 'urn:air:owner.example:com.home.else', displayName: 'Genuine' }),
    ]
    const far = await upstream(answering({ results: forged }))
    const home = await start('home', [far.url])
    await list(home, {
      package_name: 'com.home.verified',
      capabilities: [{ name: 'x', description: 'Weather.' }],
    })
    await verify(home, 'com.home.verified', 'owner.example')
    const { json } = await action(home, {})
    expect(json.others.map(({ name }: { name: string }) => name)).toEqual(['Genuine'])
  })

  test('leaves agents of others out that exceed max_tokens', async () => {
    const long = { description: 'Weather. '.repeat(50) }
    const far = await upstream(
      answering({ results: Array.from({ length: 10 }, (_, index) => result(`n${index}`, long)) }),
    )
    const home = await start('home', [far.url])
    const { json } = await action(home, { detail: 'brief', limit: 20, max_tokens: 400 })
    expect(json.others.length).toBeLessThan(4)
    expect(json.upstreams[0].results).toBe(json.others.length)
  })
})

test.each([
  ['registry.example'],
  ['ftp://registry.example/ard'],
  ['https://user:secret@registry.example/ard'],
  ['https://registry.example/ard?key=secret'],
  [Array.from({ length: 11 }, (_, index) => `https://r${index}.example/ard`).join()],
])('the setting refuses %s', (DRAGOMAN_FEDERATION) => {
  expect(() => readConfig({ DRAGOMAN_FEDERATION })).toThrow('DRAGOMAN_FEDERATION')
})

test('the setting takes an address of a search for the base of its API, and each once', () => {
  const text = 'https://a.example/ard/search, https://a.example/ard/,https://b.example'
  expect(readConfig({ DRAGOMAN_FEDERATION: text }).DRAGOMAN_FEDERATION).toEqual([
    'https://a.example/ard',
    'https://b.example',
  ])
})

describe('another registry that', () => {
  const never: RequestListener = () => {}
  const endless: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const write = () => {
      if (response.destroyed) return
      response.write(`"${'x'.repeat(65_536)}",`)
      setImmediate(write)
    }
    response.write('{"results":[')
    write()
  }
  const drips: RequestListener = (_request, response) => void response.writeHead(200).write('{"results":[')

  test.each<[string, RequestListener, string]>([
    ['answers HTML with 200', answering('<html>', 200, { 'content-type': 'text/html' }), 'failed'],
    ['answers no results', answering({}), 'failed'],
    ['answers 400', answering({ errorCode: 'INVALID_ARGUMENT' }, 400), 'failed'],
    ['answers 500', answering({}, 500), 'failed'],
    ['answers 429', answering({}, 429), 'failed'],
    ['never ends its answer', endless, 'failed'],
    ['states 100 MB', answering('', 200, { 'content-length': '100000000' }), 'failed'],
    [
      'redirects to a private address',
      answering('', 307, { location: 'http://10.0.0.1/ard/search' }),
      'failed',
    ],
    [
      'redirects to the metadata of a cloud',
      answering('', 308, { location: 'http://169.254.169.254/' }),
      'failed',
    ],
    ['breaks off', (_request, response) => void response.socket?.resetAndDestroy(), 'failed'],
    ['never answers', never, 'late'],
    ['never goes on', drips, 'late'],
  ])('%s leaves the search with what the others found', async (_, listener, status) => {
    const bad = await upstream(listener)
    const good = await upstream(answering({ results: [result('good')] }))
    const home = await start('home', [bad.url, good.url])
    const { json } = await action(home, {})
    expect(json.others.map(({ name }: { name: string }) => name)).toEqual(['good'])
    expect(json.upstreams).toMatchObject([
      { url: bad.url, status, results: 0, detail: expect.any(String) },
      { url: good.url, status: 'answered', results: 1 },
    ])
    expect(json.agents.length).toBeGreaterThan(0)
  })

  test('is silent costs the budget of 400 ms and nothing more', async () => {
    const arrived = Promise.withResolvers<void>()
    const silent = await upstream(() => arrived.resolve())
    const budgets: number[] = []
    const home = await start('home', [silent.url], {
      async wait(milliseconds, signal) {
        if (milliseconds !== 400) return await systemWait(milliseconds, signal)
        budgets.push(milliseconds)
        await arrived.promise
      },
    })
    const { json } = await ardSearch(home)
    expect(identifiers(json.results)).toContain('urn:air:home.example:com.home.weather')
    expect(budgets).toEqual([400])
  })

  test('fails five times is not asked for a while', async () => {
    const bad = await upstream(answering('', 500))
    const home = await start('home', [bad.url])
    for (let count = 0; count < 8; count++) {
      const { json } = await action(home, {})
      expect(json.upstreams[0].status).toBe('failed')
    }
    expect(bad.hits()).toBe(5)
    expect((await action(home, {})).json.upstreams[0].detail).toContain('circuit open')
  })

  test('is silent five times is not asked for a while', async () => {
    const silence = new EventEmitter()
    const silent = await upstream(() => void silence.emit('request'))
    const home = await start('home', [silent.url], {
      wait: async (milliseconds, signal) => {
        if (milliseconds !== 400) return await systemWait(milliseconds, signal)
        await once(silence, 'request', { signal })
      },
    })
    for (let count = 0; count < 7; count++) await action(home, {})
    expect(silent.hits()).toBe(5)
  })

  test('is this gateway itself is never asked', async () => {
    const own = await startGateway({
      DRAGOMAN_BASE_URL: 'http://127.0.0.1:1',
      DRAGOMAN_FEDERATION: 'http://localhost:1/ard',
    })
    stack.push(own)
    const { json } = await action(own, {})
    expect(json.upstreams).toMatchObject([
      { status: 'failed', detail: expect.stringContaining('does not call itself') },
    ])
  })
})

/** Gateways in a ring: each knows the next one, and the last one the first; their addresses are only known once they listen. */
async function ring(size: number, others: readonly string[] = []) {
  const targets: string[] = []
  const counts = Array.from({ length: size }, () => 0)
  const relays = await Promise.all(
    counts.map((_, index) =>
      upstream(async (request, response) => {
        counts[index] = (counts[index] ?? 0) + 1
        await relay(request, response, `${targets[index]}${request.url}`)
      }),
    ),
  )
  const gateways: TestGateway[] = []
  for (const index of counts.keys()) {
    const next = relays[(index + 1) % size]?.url ?? ''
    const home = await start(`node${index}`, [next, ...others])
    targets[index] = home.url
    gateways.push(home)
  }
  return { gateways, counts }
}

async function relay(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(await bodyOf(request)),
  })
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  return JSON.parse(Buffer.concat(await request.toArray()).toString())
}

describe.each([2, 3])('%i gateways in a ring', (size) => {
  test('answer with their neighbour, ask once, and repeat nothing', async () => {
    const silent = await upstream(() => {})
    const { gateways, counts } = await ring(size, [silent.url])
    for (const home of gateways) {
      await list(home, {
        package_name: 'com.shared.weather',
        description: 'Weather forecast.',
        capabilities: [],
        endpoints: [{ protocol: 'mcp', url: 'https://mcp.shared.example/' }],
      } as Parameters<typeof list>[1])
      await verify(home, 'com.shared.weather', 'shared.example')
    }
    for (const [index, home] of gateways.entries()) {
      const before = [...counts]
      const { status, json } = await ardSearch(home, { pageSize: 100 })
      expect(status).toBe(200)
      const found = identifiers(json.results)
      const next = (index + 1) % size
      expect(found).toEqual(
        expect.arrayContaining([
          `urn:air:node${index}.example:com.node${index}.weather`,
          `urn:air:node${next}.example:com.node${next}.weather`,
        ]),
      )
      expect(
        found.filter((identifier) => identifier === 'urn:air:shared.example:com.shared.weather'),
      ).toHaveLength(1)
      expect(new Set(found).size).toBe(found.length)
      const requests = counts.map((count, at) => count - (before[at] ?? 0))
      expect(requests).toEqual(counts.map((_, at) => (at === next ? 1 : 0)))
    }
  })
})
