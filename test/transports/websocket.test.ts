import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { modernRequest } from '../support/mcp.ts'
import { type Replay, replay } from '../support/replay.ts'
import { openSocket, type Refused } from '../support/socket.ts'

const start = 1_800_000_000_000
let now = start
const home = await startGateway(
  { DRAGOMAN_ALLOWED_WEB_ORIGINS: 'https://page.example' },
  { clock: () => now },
)
afterAll(() => home[Symbol.asyncDispose]())

const paths = [
  ['/rpc', 'jsonrpc'],
  ['/mcp/ws', 'mcp'],
] as const

const ping = (path: string, id: number) =>
  path === '/rpc'
    ? { jsonrpc: '2.0', id, method: 'registry.search_agents', params: {} }
    : modernRequest(id, 'tools/call', { name: 'search_agents', arguments: {} })

async function refusal(
  path: string,
  protocols: string[],
  headers: Record<string, string> = {},
): Promise<Refused> {
  return await openSocket(`${home.url}${path}`, protocols, headers).then(
    () => Promise.reject(new Error('The upgrade was accepted.')),
    (fault: Refused) => fault,
  )
}

describe.each(paths)('the upgrade of %s', (path, protocol) => {
  test('a page of a foreign origin is refused with 403', async () => {
    const { status, body } = await refusal(path, [protocol], { Origin: 'https://evil.example' })
    expect(status).toBe(403)
    expect(JSON.parse(body).code).toBe('forbidden')
  })

  test('a page of another port of the machine is refused with 403', async () => {
    expect((await refusal(path, [protocol], { Origin: 'http://localhost:3000' })).status).toBe(403)
  })

  test.each(['https://page.example', 'the own port on localhost', undefined])(
    'the origin %s is let in',
    async (value) => {
      const origin = value?.startsWith('the own') ? home.url.replace('127.0.0.1', 'localhost') : value
      await using peer = await openSocket(
        `${home.url}${path}`,
        [protocol],
        origin === undefined ? {} : { Origin: origin },
      )
      expect(peer.socket.protocol).toBe(protocol)
    },
  )

  test('a bad token is refused with 401 and a challenge', async () => {
    const bySubprotocol = await refusal(path, [protocol, 'bearer.bad'])
    const byHeader = await refusal(path, [protocol], { Authorization: 'Bearer bad' })
    for (const { status, headers } of [bySubprotocol, byHeader]) {
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toContain('invalid_token')
    }
  })

  test('a token in the query is refused', async () => {
    const token = await home.token('somebody')
    for (const query of [`token=${token}`, `anything=${token}`, 'access_token=x']) {
      await expect(openSocket(`${home.url}${path}?${query}`, [protocol])).rejects.toMatchObject({
        status: 400,
      })
    }
  })

  test('the token subprotocol is never echoed', async () => {
    const token = await home.token('somebody')
    await using peer = await openSocket(`${home.url}${path}`, [`bearer.${token}`, protocol])
    expect(peer.socket.protocol).toBe(protocol)
  })
})

test('no other path is upgraded', async () => {
  expect((await refusal('/elsewhere', ['mcp'])).status).toBe(404)
})

test('an upgrade to something else is ignored and the request answered', async () => {
  const { port } = new URL(home.url)
  const upgrade = request({ port, path: '/healthz', headers: { Connection: 'Upgrade', Upgrade: 'h2c' } })
  upgrade.end()
  const [response] = await once(upgrade, 'response')
  response.resume()
  expect(response.statusCode).toBe(200)
})

describe.each(paths)('frames on %s', (path, protocol) => {
  const closing = async (send: (peer: Awaited<ReturnType<typeof openSocket>>) => void): Promise<number> => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    const closed = once(peer.socket, 'close')
    send(peer)
    const [code] = await closed
    return code
  }

  test('a binary frame closes with 1003', async () => {
    expect(await closing(({ socket }) => socket.send(Buffer.from('{}')))).toBe(1003)
  })

  test('a frame of 1 MiB and one byte closes with 1009', async () => {
    expect(await closing(({ socket }) => socket.send('x'.repeat(1024 * 1024 + 1)))).toBe(1009)
  })

  test('a frame that is not JSON is answered with -32700 and the socket stays open', async () => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    peer.send('{"nonsense"')
    expect(await peer.answer(null)).toMatchObject({ error: { code: -32700 } })
    peer.send(ping(path, 2))
    expect(await peer.answer(2)).toHaveProperty('result')
  })

  test('a hundred requests at once are all answered', async () => {
    await using peer = await openSocket(`${home.url}${path}`, [protocol])
    const ids = Array.from({ length: 100 }, (_, id) => id)
    for (const id of ids) peer.send(ping(path, id))
    const answers = await Promise.all(ids.map((id) => peer.answer(id)))
    expect(answers.every((answer) => 'result' in answer)).toBe(true)
  })

  test('a token that expires closes the socket with 1008 at the next call', async () => {
    const token = await home.token('somebody', { ttl_s: 60 })
    await using peer = await openSocket(`${home.url}${path}`, [protocol, `bearer.${token}`])
    peer.send(ping(path, 1))
    await peer.answer(1)
    now += 120_000
    const closed = once(peer.socket, 'close')
    peer.send(ping(path, 2))
    const [code] = await closed
    now = start
    expect(code).toBe(1008)
  })
})

test('cancelled MCP calls give their places back', async () => {
  await using stack = new AsyncDisposableStack()
  // The reader makes few concurrent requests to one host.
  const hosts: Replay[] = []
  for (let host = 0; host < 6; host++) hosts.push(stack.use(await replay({ 'GET /': { fault: 'hang' } })))
  const origins = hosts.map(({ url }) => url).join(',')
  await using reading = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins })
  const token = await reading.token('reader')
  await using peer = await openSocket(`${reading.url}/mcp/ws`, ['mcp', `bearer.${token}`])
  const answered: unknown[] = []
  peer.socket.on('message', (data) => answered.push(JSON.parse(String(data)).id))
  const ids = Array.from({ length: 16 }, (_, id) => id + 1)
  for (const id of ids) {
    // Each call has its own page, so that no calls share a fetch.
    const url = `${hosts[id % 6]?.url}/?page=${id}`
    peer.send(modernRequest(id, 'tools/call', { name: 'reader_extract_content', arguments: { url } }))
  }
  await Promise.all(hosts.map((host, at) => host.arrived(ids.filter((id) => id % 6 === at).length)))
  for (const requestId of ids)
    peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  peer.send(ping('/mcp/ws', 99))
  expect(await peer.answer(99)).toHaveProperty('result')
  // None of them was given up because it took too long.
  expect(answered).toEqual([99])
})
