import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Endpoint } from '../../schemas/entry-parts.ts'
import { type EnvelopeAgent, serveEnvelopes } from '../support/envelope-agent.ts'
import { type FaultyAgent, faults, serveFaults } from '../support/faulty-agents.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const protocols: readonly (readonly [string, (origin: string) => Endpoint])[] = [
  ['the envelope', (origin) => ({ protocol: 'envelope', url: `${origin}/a2a/message` })],
  [
    'A2A over JSON-RPC',
    (origin) => ({ protocol: 'a2a', url: `${origin}/rpc`, binding: 'JSONRPC', version: '1.0' }),
  ],
  [
    'A2A over HTTP+JSON',
    (origin) => ({ protocol: 'a2a', url: `${origin}/rest`, binding: 'HTTP+JSON', version: '1.0' }),
  ],
  ['MCP', (origin) => ({ protocol: 'mcp', url: `${origin}/mcp` })],
  ['A2A 0.3', (origin) => ({ protocol: 'a2a', url: `${origin}/rpc`, version: '0.3.0' })],
]

/** Milliseconds after which a call to an agent times out in these tests. */
const remote_timeout_ms = 1_000

const slugOf = (name: string) => name.replaceAll(/[^a-z]/g, '-')
const misdeeds = new Map(faults.map(([name, misdeed]) => [slugOf(name), misdeed]))

describe.each(protocols)('an agent that speaks %s', (_, endpointAt) => {
  let faulty: FaultyAgent
  /** Agents that do answer may take as long as this machine needs. */
  let patient: TestGateway
  let hasty: TestGateway

  beforeAll(async () => {
    // Each fault has its own path, so that all can run concurrently.
    faulty = await serveFaults((request, response) => {
      const slug = request.url?.split('/')[1] ?? ''
      misdeeds.get(slug)?.(request, response)
    })
    const environment = { DRAGOMAN_ALLOW_ORIGINS: faulty.origin }
    patient = await startGateway(environment)
    hasty = await startGateway(environment, { remote_timeout_ms })
  })

  afterAll(async () => {
    await patient?.[Symbol.asyncDispose]()
    await hasty?.[Symbol.asyncDispose]()
    await faulty?.[Symbol.asyncDispose]()
  })

  async function meet([name, , code]: (typeof faults)[number]): Promise<void> {
    const gateway = code === 'upstream_timeout' ? hasty : patient
    const package_name = `com.example.${slugOf(name)}`
    await list(gateway, { package_name, endpoints: [endpointAt(`${faulty.origin}/${slugOf(name)}`)] })
    const answer = await gateway.request('POST', '/a2a/message', {
      body: { to: package_name, action: 'anything', params: {} },
      token: await gateway.token('ada'),
    })
    expect(answer.json, answer.text).toMatchObject({ code })
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.text).not.toMatch(/Oh no|node_modules|at file:/)
  }

  const [slow, quick] = [true, false].map((isSlow) =>
    faults.filter(([, , code]) => (code === 'upstream_timeout') === isSlow),
  )
  test.each(quick ?? [])('and %s is reported as such', (...fault) => meet(fault))
  // These tests only wait.
  test.concurrent.each(slow ?? [])('and %s is reported as such', (...fault) => meet(fault))
})

describe('an agent that fails', () => {
  let clock = 1_800_000_000_000
  let faulty: FaultyAgent
  let healthy: EnvelopeAgent
  let gateway: TestGateway
  let token: string

  beforeAll(async () => {
    faulty = await serveFaults((_, response) => void response.writeHead(500).end())
    healthy = await serveEnvelopes()
    const origins = `${faulty.origin},${healthy.origin}`
    gateway = await startGateway(
      { DRAGOMAN_ALLOW_ORIGINS: origins },
      { remote_timeout_ms, clock: () => clock },
    )
    token = await gateway.token('ada')
    const endpointAt = (origin: string): Endpoint => ({ protocol: 'envelope', url: `${origin}/a2a/message` })
    await list(gateway, { package_name: 'com.example.faulty', endpoints: [endpointAt(faulty.origin)] })
    await list(gateway, { package_name: 'com.example.crowded', endpoints: [endpointAt(faulty.origin)] })
    await list(gateway, { package_name: 'com.example.well', endpoints: [endpointAt(healthy.origin)] })
    await list(gateway, {
      package_name: 'com.example.reading',
      endpoints: [endpointAt(faulty.origin)],
      capabilities: [
        { name: 'look', description: 'Reads.', read_only: true },
        { name: 'touch', description: 'Writes.' },
      ],
    })
  })

  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]()
    await healthy?.[Symbol.asyncDispose]()
    await faulty?.[Symbol.asyncDispose]()
  })

  const send = (to: string, action = 'anything') =>
    gateway.request('POST', '/a2a/message', { body: { to, action, params: {} }, token })

  test('five times in a row has its circuit opened, the others do not, and is tried again after half a minute', async () => {
    for (let time = 0; time < 5; time++) {
      expect((await send('com.example.faulty')).json).toMatchObject({ code: 'upstream_failed' })
    }
    const hits = faulty.hits()
    const left = await send('com.example.faulty')
    expect(left).toMatchObject({
      status: 503,
      json: { code: 'circuit_open', retryable: true, retry_after_s: 30 },
    })
    expect(left.headers.get('retry-after')).toBe('30')
    expect(faulty.hits()).toBe(hits)
    expect((await send('com.example.well')).status).toBe(200)
    clock += 30_000
    expect((await send('com.example.faulty')).json).toMatchObject({ code: 'upstream_failed' })
    expect((await send('com.example.faulty')).json).toMatchObject({ code: 'circuit_open' })
    clock += 30_000
    faulty.become(
      (_, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).end('1'),
    )
    for (let time = 0; time < 6; time++) expect((await send('com.example.faulty')).json).toBe(1)
  })

  test('is retried once for a read-only action, and never for any other', async () => {
    faulty.become((request) => void request.socket.destroy())
    const before = faulty.hits()
    await send('com.example.reading', 'look')
    expect(faulty.hits()).toBe(before + 2)
    await send('com.example.reading', 'touch')
    expect(faulty.hits()).toBe(before + 3)
  })

  test('delays no other agent, however many calls it gets', async () => {
    faulty.become(() => {})
    const crowd = Array.from({ length: 1000 }, () => send('com.example.crowded'))
    const others = await Promise.all(Array.from({ length: 50 }, () => send('com.example.well')))
    expect(others.every(({ status }) => status === 200)).toBe(true)
    const codes = Map.groupBy(await Promise.all(crowd), ({ json }) => json.code)
    expect([...codes.keys()].toSorted()).toEqual(['circuit_open', 'upstream_timeout'])
    expect(codes.get('upstream_timeout')?.length).toBeLessThanOrEqual(32)
  })
})

test('agents that call each other in a ring are stopped', async () => {
  let requests = 0
  const gateways: TestGateway[] = []
  const passOn = (to: string) =>
    serveEnvelopes(async ({ headers }, response) => {
      requests += 1
      const { url = '' } = gateways[0] ?? {}
      const answer = await fetch(`${url}/a2a/message`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${token}`,
          Via: String(headers.via),
        },
        body: JSON.stringify({ to, action: 'pass', params: {} }),
      })
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
  await using first = await passOn('com.example.two')
  await using two = await passOn('com.example.one')
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: `${first.origin},${two.origin}` })
  gateways.push(gateway)
  const token = await gateway.token('ada')
  await list(gateway, {
    package_name: 'com.example.one',
    endpoints: [{ protocol: 'envelope', url: first.url }],
  })
  await list(gateway, {
    package_name: 'com.example.two',
    endpoints: [{ protocol: 'envelope', url: two.url }],
  })
  const answer = await gateway.request('POST', '/a2a/message', {
    body: { to: 'com.example.one', action: 'pass', params: {} },
    token,
  })
  expect(answer.text).toContain('loop_detected')
  expect(requests).toBe(2)
})
