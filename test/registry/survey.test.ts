import { afterEach, describe, expect, test } from 'vitest'
import { allows } from '../../src/registry/capabilities/robots.ts'
import { Survey } from '../../src/registry/capabilities/survey.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { type McpServer, startHostileServer, startModernServer } from '../support/mcp-servers.ts'

const signal = new AbortController().signal
const day = 24 * 3_600_000
const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource[Symbol.asyncDispose]()
})

/** A gateway whose clock moves on by each wait. */
async function startSurveyor(...servers: McpServer[]) {
  const time = { now: Date.parse('2026-01-01T12:00:00Z') }
  const origins = servers.map(({ origin }) => origin).join()
  const gateway = await startGateway(
    { DRAGOMAN_ALLOW_ORIGINS: origins, DRAGOMAN_PROBE: 'on' },
    {
      clock: () => time.now,
      async wait(milliseconds) {
        time.now += milliseconds
      },
    },
  )
  open.push(...servers, gateway)
  return { gateway, time }
}

async function importServers({ gateway }: TestGateway, servers: readonly McpServer[]): Promise<void> {
  const { revision } = await gateway.store.write(async (writer) => {
    for (const { url } of servers) {
      await writer.put(sampleEntry({ endpoints: [{ protocol: 'mcp', url }], name: url }))
    }
  })
  await gateway.tailer.caughtUp(revision)
}

const requestsTo = ({ seen }: McpServer) => seen.map(({ rpc, path }) => rpc ?? path)

test('imported servers are read one after another, a second apart, and not again for a month', async () => {
  const servers = [await startModernServer(), await startModernServer()]
  const { gateway, time } = await startSurveyor(...servers)
  await importServers(gateway, servers)
  const { survey } = gateway.gateway
  const before = time.now
  expect(await survey.run(signal)).toBe(2)
  const requests = servers.flatMap(requestsTo)
  expect(requestsTo(servers[0] as McpServer)[0]).toBe('/robots.txt')
  expect(requests.filter((name) => name === 'tools/list')).toHaveLength(2)
  expect(time.now - before).toBe((requests.length - 1) * 1000)
  const { json } = await gateway.request('GET', '/public/agents?q=echo&callable=open')
  expect(json.agents).toHaveLength(2)
  time.now += day
  expect([await survey.isDue(), await survey.run(signal)]).toEqual([true, 0])
  time.now += 30 * day
  expect(await survey.run(signal)).toBe(2)
})

test('entries with an owner are left to the checks', async () => {
  const server = await startModernServer()
  const { gateway } = await startSurveyor(server)
  await list(gateway, { package_name: 'com.example.own', endpoints: [{ protocol: 'mcp', url: server.url }] })
  expect(await gateway.gateway.survey.run(signal)).toBe(0)
  expect(server.seen).toEqual([])
})

test('a host that opts out in robots.txt is not asked', async () => {
  const server = await startHostileServer((request, response) => {
    if (request.url === '/robots.txt') response.end('User-agent: Dragoman\nDisallow: /mcp\n')
    else response.writeHead(500).end()
  })
  const { gateway } = await startSurveyor(server)
  await importServers(gateway, [server])
  await gateway.gateway.survey.run(signal)
  expect(requestsTo(server)).toEqual(['/robots.txt'])
})

test('a host that asks for a pause is left alone until its end', async () => {
  const server = await startHostileServer((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end()
    else response.writeHead(429, { 'retry-after': '86400' }).end()
  })
  const { gateway, time } = await startSurveyor(server)
  await importServers(gateway, [server])
  const { survey } = gateway.gateway
  await survey.run(signal)
  const first = server.seen.length
  expect(first).toBeGreaterThan(1)
  time.now += day / 2 + 3_600_000
  await survey.run(signal)
  expect(server.seen).toHaveLength(first)
  time.now += day
  await survey.run(signal)
  expect(server.seen.length).toBeGreaterThan(first)
})

test('only so many hosts are asked in a day, the others on the next days', async () => {
  const urls: string[] = []
  const { gateway, time } = await startSurveyor()
  const { store } = gateway.gateway
  await store.write(async (writer) => {
    for (let host = 0; host < 5; host++) {
      const url = `https://server-${host}.example.com/mcp`
      await writer.put(sampleEntry({ endpoints: [{ protocol: 'mcp', url }] }))
    }
  })
  const survey = new Survey({
    store,
    reader: {
      async ask({ endpoints: [endpoint] }) {
        urls.push(endpoint?.url ?? '')
        return { answer: { capabilities: [], is_cut: false }, kind: 'open' }
      },
      async note(entry) {
        const reading = { status: 'ok' as const, detail: null, findings: [], lists: true, changes: 0 }
        const checked_at = new Date(time.now).toISOString()
        const { revision } = await store.write((writer) =>
          writer.put({ ...entry, reading: { ...reading, checked_at } }),
        )
        return revision
      },
    },
    fetch: async ({ url }) => ({ status: 404, headers: {}, url, redirects: [], body: new Uint8Array() }),
    clock: () => time.now,
    onError: () => {},
    max_hosts: 2,
  })
  for (const total of [2, 4, 5, 5]) {
    await survey.run(signal)
    expect(new Set(urls).size).toBe(total)
    expect(urls).toHaveLength(total)
    time.now += day
  }
})

describe('robots.txt', () => {
  test.each([
    ['', '/mcp', true],
    ['User-agent: *\nDisallow: /', '/mcp', false],
    ['User-agent: *\nDisallow:', '/mcp', true],
    ['User-agent: *\nDisallow: /\n\nUser-agent: dragoman\nAllow: /', '/mcp', true],
    ['User-agent: other\nUser-agent: Dragoman # ours\nDisallow: /mcp', '/mcp/x', false],
    ['User-agent: *\nDisallow: /\nAllow: /mcp', '/mcp', true],
    ['User-agent: *\nDisallow: /*/private$', '/a/private', false],
    ['User-agent: *\nDisallow: /*/private$', '/a/private/b', true],
    ['Disallow: /', '/mcp', true],
  ])('%j allows %s: %s', (robots, path, allowed) => {
    expect(allows(robots, 'dragoman', path)).toBe(allowed)
  })

  test('is read in linear time, whatever its patterns', () => {
    const rules = `User-agent: *\nDisallow: /${'*a'.repeat(200)}*b`
    expect(allows(rules, 'dragoman', `/${'a'.repeat(100_000)}`)).toBe(true)
  })
})
