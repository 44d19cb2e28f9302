import { request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { acceptedCodings } from '../../src/transports/shared/coding.ts'
import { startGateway } from '../support/gateway.ts'
import { publication } from './cases.ts'

const home = await startGateway()
const token = await home.token('coder', { namespaces: ['com.coder'] })
afterAll(() => home[Symbol.asyncDispose]())

interface Raw {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly bytes: Buffer
}

/** `fetch` decompresses, so that requests go by Node's own client. */
function ask(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: unknown,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const request = httpRequest(
      `${home.url}${path}`,
      { method, headers: { ...type, ...headers } },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers as Raw['headers'],
            bytes: Buffer.concat(chunks),
          }),
        )
      },
    )
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const decode = { br: brotliDecompressSync, gzip: gunzipSync } as const

describe('Accept-Encoding', () => {
  test.each([
    [undefined, []],
    ['', []],
    ['identity', []],
    ['gzip', ['gzip']],
    ['gzip, deflate, br', ['br', 'gzip']],
    ['br;q=0.5, gzip;q=0.8', ['gzip', 'br']],
    ['br;q=0, gzip', ['gzip']],
    ['gzip;q=0.000', []],
    ['*', ['br', 'gzip']],
    ['*;q=0.1, br;q=0', ['gzip']],
    ['identity;q=1, gzip;q=0.5', []],
    ['GZIP;Q=1', ['gzip']],
    ['gzip;q=nonsense', []],
    ['deflate, zstd', []],
  ])('%j accepts %j', (header, expected) => {
    expect(acceptedCodings({ headers: header === undefined ? {} : { 'accept-encoding': header } })).toEqual(
      expected,
    )
  })
})

describe('an answer', () => {
  const entry = '/public/agents/svc.utility.wiki'
  const lists = ['/public/agents', entry, '/openapi.json', '/llms.txt', '/ard/agents']

  test.each(lists.flatMap((path) => (['br', 'gzip'] as const).map((coding) => [path, coding] as const)))(
    '%s is sent in %s, with a validator of its own',
    async (path, coding) => {
      const plain = await ask(path)
      expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([
        undefined,
        expect.stringContaining('Accept-Encoding'),
      ])
      const accepting = { 'Accept-Encoding': coding }
      const coded = await ask(path, accepting)
      expect(coded.headers['content-encoding']).toBe(coding)
      expect(coded.headers.vary).toBe(plain.headers.vary)
      expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 2)
      expect(decode[coding](coded.bytes).equals(plain.bytes)).toBe(true)
      expect(coded.headers.etag).not.toBe(plain.headers.etag)
      const head = await ask(path, accepting, 'HEAD')
      expect([head.headers['content-length'], head.headers.etag, head.bytes.length]).toEqual([
        String(coded.bytes.length),
        coded.headers.etag,
        0,
      ])
      const again = await ask(path, { ...accepting, 'If-None-Match': coded.headers.etag ?? '' })
      expect([again.status, again.headers.etag, again.bytes.length]).toEqual([304, coded.headers.etag, 0])
      const without = await ask(path, { 'If-None-Match': coded.headers.etag ?? '' })
      expect(without.status).toBe(200)
    },
  )

  test('of a POST and the text of a file are compressed too', async () => {
    const accepting = { 'Accept-Encoding': 'gzip' }
    const search = await ask('/api/agents/search', accepting, 'POST', { query: 'wiki' })
    expect(search.headers['content-encoding']).toBe('gzip')
    expect(JSON.parse(String(gunzipSync(search.bytes))).agents.length).toBeGreaterThan(0)
  })

  const searching = { query: 'wiki', limit: 20 }
  test.each([
    ['/rpc', { jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: searching }],
    ['/rpc', [{ jsonrpc: '2.0', id: 1, method: 'registry.search_agents', params: searching }]],
    ['/a2a/message', { to: 'svc.registry', action: 'search', params: searching }],
  ])('of %s is compressed where it is large', async (path, body) => {
    const plain = await ask(path, {}, 'POST', body)
    const coded = await ask(path, { 'Accept-Encoding': 'br' }, 'POST', body)
    expect([coded.status, coded.headers['content-encoding']]).toEqual([200, 'br'])
    expect(JSON.parse(String(brotliDecompressSync(coded.bytes)))).toEqual(JSON.parse(String(plain.bytes)))
  })

  test('below 1 KiB, of a failure or of a stream is sent as it is', async () => {
    const accepting = { 'Accept-Encoding': 'br, gzip' }
    const events = { ...accepting, Accept: 'text/event-stream' }
    const session = JSON.parse(String((await ask('/api/playground/session', accepting, 'POST')).bytes))
    const execute = `/api/playground/session/${session.id}/execute`
    const call = { agent: 'svc.registry', capability: 'search_agents', input: {} }
    for (const answer of [
      await ask('/healthz', accepting),
      await ask('/public/agents/nobody', accepting),
      await ask(execute, events, 'POST', call),
    ])
      expect(answer.headers['content-encoding']).toBeUndefined()
  })

  test('that holds a secret is never compressed', async () => {
    const authorization = { Authorization: `Bearer ${token}` }
    const namespaces = Array.from({ length: 100 }, (_, index) => `com.coder.namespace-${index}`)
    const label = 'The purpose of the key.'
    const accepting = { ...authorization, 'Accept-Encoding': 'br' }
    const { status, headers, bytes } = await ask('/api/keys', accepting, 'POST', { namespaces, label })
    expect(status).toBe(201)
    expect(bytes.length).toBeGreaterThan(1024)
    expect(headers['content-encoding']).toBeUndefined()
    const params = { namespaces, label }
    for (const [path, body] of [
      ['/rpc', { jsonrpc: '2.0', id: 1, method: 'registry.create_key', params }],
      ['/a2a/message', { to: 'svc.registry', action: 'create_key', params }],
    ] as const) {
      const answer = await ask(path, accepting, 'POST', body)
      expect(String(answer.bytes)).toContain('namespace-99')
      expect(answer.headers['content-encoding']).toBeUndefined()
    }
  })

  test('in any coding gives an ETag by which its agent may be changed', async () => {
    const authorization = { Authorization: `Bearer ${token}` }
    const made = await home.request('POST', '/api/agents/publish', {
      token,
      body: publication('com.coder.agent'),
    })
    const path = `/api/agents/${made.json.id}`
    const { headers } = await ask(path, { ...authorization, 'Accept-Encoding': 'br' })
    expect(headers.etag).toMatch(/-br"$/)
    const change = { description: 'Another description.' }
    const put = (etag: string) => ask(path, { ...authorization, 'If-Match': etag }, 'PUT', change)
    expect((await put(headers.etag ?? '')).status).toBe(200)
    expect((await put(headers.etag ?? '')).status).toBe(412)
  })
})
