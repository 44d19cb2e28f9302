import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { isLoopback } from '../../src/common/loopback.ts'
import { startGateway } from '../support/gateway.ts'
import { openSocket, Refused } from '../support/socket.ts'

/** A GET with a chosen Host header, which fetch does not allow. */
function get(url: string, path: string, host: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { headers: { Host: host } }, async (answer) =>
      resolve({ status: answer.statusCode ?? 0, body: await text(answer) }),
    )
    request.once('error', reject)
    request.end()
  })
}

describe('a gateway on loopback', () => {
  test('answers to the names of this machine and of its own addresses, at every port', async () => {
    await using home = await startGateway({
      DRAGOMAN_BASE_URL: 'https://agents.example.com/gateway',
      DRAGOMAN_SITE_URL: 'https://www.example.com',
    })
    for (const host of [
      'localhost',
      'localhost:1',
      'LOCALHOST.',
      'app.localhost',
      '127.0.0.1',
      '127.1.2.3:99',
      '[::1]:8080',
      'agents.example.com',
      'Agents.Example.com:443',
      'www.example.com',
    ])
      expect([host, (await get(home.url, '/healthz', host)).status]).toEqual([host, 200])
  })

  test.each([
    'evil.example',
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'example.com',
    'localhost@evil.example',
    'evil.example/localhost',
    '%',
  ])('refuses %s at every transport, with the setting to change', async (host) => {
    await using home = await startGateway({ DRAGOMAN_BASE_URL: 'https://agents.example.com' })
    for (const path of ['/healthz', '/mcp', '/rpc', '/public/agents', '/nothing']) {
      const { status, body } = await get(home.url, path, host)
      expect([path, status]).toEqual([path, 403])
      expect(JSON.parse(body)).toMatchObject({
        code: 'forbidden',
        hint: expect.stringContaining('DRAGOMAN_BASE_URL'),
      })
    }
    for (const [path, protocol] of [
      ['/mcp/ws', 'mcp'],
      ['/rpc', 'jsonrpc'],
    ] as const) {
      const fault = await openSocket(`${home.url}${path}`, [protocol], { Host: host }).catch(
        (thrown) => thrown,
      )
      expect(fault).toBeInstanceOf(Refused)
      expect([(fault as Refused).status, JSON.parse((fault as Refused).body).code]).toEqual([
        403,
        'forbidden',
      ])
    }
  })

  test('takes a socket under its own address', async () => {
    await using home = await startGateway({ DRAGOMAN_BASE_URL: 'https://agents.example.com' })
    await using peer = await openSocket(`${home.url}/mcp/ws`, ['mcp'], { Host: 'agents.example.com' })
    expect(peer.socket.protocol).toBe('mcp')
  })
})

describe('a page of a foreign origin', () => {
  const envelope = { to: 'svc.registry', action: 'search', params: { query: 'wiki' } }
  test.each([
    ['/a2a/message', envelope],
    ['/rpc', { jsonrpc: '2.0', id: 1, method: 'message.send', params: envelope }],
  ])('is refused at %s; an allowed page and other clients are not', async (path, body) => {
    await using home = await startGateway({ DRAGOMAN_ALLOWED_WEB_ORIGINS: 'https://page.example' })
    const post = (headers: Record<string, string>) => home.request('POST', path, { body, headers })
    const refused = await post({ Origin: 'https://evil.example' })
    expect(refused.status).toBe(403)
    expect((refused.json.error?.data ?? refused.json).code).toBe('forbidden')
    expect((await post({ Origin: 'https://page.example' })).status).toBe(200)
    expect((await post({})).status).toBe(200)
  })
})

describe('a request with a field twice', () => {
  /** The status line and the body of a request that is written by hand. */
  async function answerTo(url: string, lines: readonly string[]): Promise<{ status: number; body: string }> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.end([...lines, '', ''].join('\r\n'))
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), body }
  }

  test.each([
    ['Host', ['Host: localhost', 'Host: 127.0.0.1']],
    ['Authorization', ['Host: localhost', 'Authorization: Bearer one', 'authorization: Bearer two']],
  ])('%s is refused at every path and for sockets', async (_, fields) => {
    await using home = await startGateway()
    const close = 'Connection: close'
    const upgrade = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ]
    for (const lines of [
      ['GET /healthz HTTP/1.1', ...fields, close],
      ['GET /public/agents HTTP/1.1', ...fields, close],
      ['POST /rpc HTTP/1.1', ...fields, 'Content-Length: 0', close],
      ['GET /mcp/ws HTTP/1.1', ...fields, ...upgrade],
    ]) {
      const { status, body } = await answerTo(home.url, lines)
      expect([lines[0], status, JSON.parse(body).code]).toEqual([lines[0], 400, 'invalid_request'])
    }
  })
})

test('a gateway on other addresses answers every host name, as health checks by IP need', async () => {
  await using home = await startGateway({ HOST: '0.0.0.0', DRAGOMAN_BASE_URL: 'https://agents.example.com' })
  const url = home.url.replace('localhost', '127.0.0.1')
  for (const host of ['10.1.2.3:8080', 'agents.example.com', 'internal'])
    expect((await get(url, '/healthz', host)).status).toBe(200)
})

test('loopback is what RFCs say it is', () => {
  expect(['localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]', 'a.b.localhost'].every(isLoopback)).toBe(
    true,
  )
  expect(
    ['localhost.com', '128.0.0.1', '127.0.0.1.com', '0.0.0.0', '::', 'notlocalhost'].some(isLoopback),
  ).toBe(false)
})
