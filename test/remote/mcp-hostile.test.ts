import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { rejection } from '../net/support.ts'
import { agentAt } from '../support/mcp-agent.ts'
import {
  answerJson,
  discovered,
  event,
  events,
  type Misbehave,
  nothing,
  untilCalled,
} from '../support/mcp-answers.ts'
import { startHostileServer } from '../support/mcp-servers.ts'

const answers: Record<string, [Misbehave, object]> = {
  'HTML with 200': [
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>'),
    { code: 'upstream_invalid', message: expect.stringContaining('may be no endpoint of MCP') },
  ],
  'JSON that is none': [
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc": '),
    { code: 'upstream_invalid' },
  ],
  'JSON that is no message': [
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok": true}'),
    { code: 'upstream_invalid' },
  ],
  'a wrong id': [
    (_, response, body) => answerJson(response, { id: Number(body.id) + 7 }, { result: nothing }),
    { code: 'upstream_invalid' },
  ],
  'a wrong id in a stream that stays open': [
    (_, response) =>
      response.writeHead(200, events).write(event({ jsonrpc: '2.0', id: 999, result: nothing })),
    { code: 'upstream_invalid' },
  ],
  'a stream that ends without the answer': [
    (_, response) => response.writeHead(200, events).end(': nothing\n\n'),
    { code: 'upstream_invalid' },
  ],
  'junk in a stream': [
    (_, response) => response.writeHead(200, events).write('data: {"jsonrpc"\n\n'),
    { code: 'upstream_invalid' },
  ],
  'a stream that breaks': [
    (_, response) => {
      response.writeHead(200, events).write(': begun\n\n')
      response.socket?.resetAndDestroy()
    },
    { code: 'upstream_failed' },
  ],
  '202 and nothing more': [(_, response) => response.writeHead(202).end(), { code: 'upstream_invalid' }],
  '204': [(_, response) => response.writeHead(204).end(), { code: 'upstream_invalid' }],
  'a reset': [(_, response) => response.socket?.resetAndDestroy(), { code: 'upstream_failed' }],
  'more than 4 MiB of JSON': [
    (_, response, body) => answerJson(response, body, { result: { ...nothing, more: 'x'.repeat(11 << 20) } }),
    { code: 'upstream_invalid' },
  ],
  'more than 4 MiB of events': [
    (_, response) => response.writeHead(200, events).end(`: ${'x'.repeat(11 << 20)}\n\n`),
    { code: 'upstream_invalid' },
  ],
  'no result type': [
    (_, response, body) => answerJson(response, body, { result: { content: [] } }),
    { code: 'upstream_invalid' },
  ],
  'a question to the caller': [
    (_, response, body) =>
      answerJson(response, body, { result: { resultType: 'input_required', requestState: 'x' } }),
    { code: 'upstream_invalid', message: expect.stringContaining('input_required') },
  ],
  'a deeply nested output': [
    (_, response, body) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const result = `{"resultType":"complete","content":[],"structuredContent":${deep}}`
      response.end(`{"jsonrpc":"2.0","id":${body.id},"result":${result}}`)
    },
    { code: 'upstream_invalid' },
  ],
  500: [(_, response) => response.writeHead(500).end('oops'), { code: 'upstream_failed' }],
  '503 with Retry-After': [
    (_, response) => response.writeHead(503, { 'retry-after': '12' }).end(),
    { code: 'upstream_failed', details: { upstream: { status: 503 }, retry_after_s: 12 } },
  ],
  '429 with Retry-After': [
    (_, response) => response.writeHead(429, { 'retry-after': '3' }).end(),
    { code: 'upstream_failed', details: { upstream: { status: 429 }, retry_after_s: 3 } },
  ],
  401: [
    (_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end(),
    {
      code: 'upstream_failed',
      details: { upstream: { status: 401 }, hint: expect.stringMatching('credential') },
    },
  ],
  '403 for want of a scope': [
    (_, response) =>
      response.writeHead(403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }).end(),
    {
      code: 'upstream_failed',
      details: { upstream: { status: 403 }, hint: expect.stringMatching('lacks a scope') },
    },
  ],
  406: [(_, response) => response.writeHead(406).end(), { code: 'upstream_invalid' }],
  'a redirect to another origin': [
    (_, response) => response.writeHead(307, { location: 'https://example.com/mcp' }).end(),
    { code: 'upstream_invalid' },
  ],
  'a redirect to a private address': [
    (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    { code: 'blocked_address' },
  ],
  'error -32602': [
    (_, response, body) => answerJson(response, body, { error: { code: -32602, message: 'a is missing' } }),
    { code: 'invalid_request', message: 'The agent says: a is missing' },
  ],
  'error -32602 for an unknown tool': [
    (_, response, body) =>
      answerJson(response, body, { error: { code: -32602, message: 'Unknown tool: x' } }),
    { code: 'unknown_action' },
  ],
  'error -32601 with HTTP 404': [
    (_, response, body) => {
      const error = { code: -32601, message: 'Method not found' }
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, error }))
    },
    { code: 'unknown_action' },
  ],
  'another error': [
    (_, response, body) => answerJson(response, body, { error: { code: -32050, message: 'Full moon' } }),
    {
      code: 'upstream_failed',
      message: 'The agent says: Full moon',
      details: { upstream: { code: '-32050' } },
    },
  ],
}

describe.each(Object.entries(answers))('a server that answers a call with %s', (_, [misbehave, failure]) => {
  test('fails that call, with an error text of the gateway', async () => {
    await using server = await startHostileServer(untilCalled(misbehave))
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('echo'))).toMatchObject(failure)
  })
})

const always: Record<string, [Misbehave, object]> = {
  'HTML with 200': answers['HTML with 200'] as never,
  500: answers[500] as never,
  '429 with Retry-After': answers['429 with Retry-After'] as never,
  401: answers[401] as never,
  'a reset': answers['a reset'] as never,
  'a redirect to another origin': answers['a redirect to another origin'] as never,
  'a wrong id': answers['a wrong id'] as never,
  '202 and nothing more': answers['202 and nothing more'] as never,
  404: [
    (_, response) => response.writeHead(404).end(),
    { code: 'upstream_invalid', details: { upstream: { status: 404 } } },
  ],
  405: [
    (_, response) => response.writeHead(405).end(),
    { code: 'upstream_invalid', details: { upstream: { status: 405 } } },
  ],
}

describe.each(Object.entries(always))(
  'a server that answers everything with %s',
  (_, [misbehave, failure]) => {
    test('fails the call and the probe alike', async () => {
      await using server = await startHostileServer(misbehave)
      await using remote = agentAt(server.url)
      expect(await rejection(remote.ask('echo'))).toMatchObject(failure)
      const found = await remote.agent.probe(remote.call()).catch((fault: unknown) => fault)
      expect(found).toMatchObject(failure)
    })
  },
)

describe.each([
  ['carriage returns', '\r'],
  ['carriage returns and line feeds', '\r\n'],
])('a stream that stays open, whose lines end with %s', (_, end) => {
  test('is read, however its chunks are cut', async () => {
    await using server = await startHostileServer(
      untilCalled(async (_request, response, body) => {
        const answer = { jsonrpc: '2.0', id: body.id, result: { ...nothing, content: [] } }
        response.writeHead(200, events)
        response.write(`data: {"jsonrpc":"2.0",${end}`)
        response.write(`data: ${JSON.stringify(answer).slice('{"jsonrpc":"2.0",'.length)}${end}${end}`)
      }),
    )
    await using remote = agentAt(server.url)
    expect(await remote.ask('echo')).toBeDefined()
  })
})

describe('a server that compresses what was asked for uncompressed', () => {
  const result = { ...nothing, content: [{ type: 'text', text: 'unpacked' }] }

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ] as const)('is understood in %s', async (coding, compress) => {
    await using server = await startHostileServer((_, response, body) => {
      const answer = body?.method === 'server/discover' ? discovered : result
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
      response.end(compress(JSON.stringify({ jsonrpc: '2.0', id: body?.id, result: answer })))
    })
    await using remote = agentAt(server.url)
    expect(JSON.stringify(await remote.ask('echo'))).toContain('unpacked')
  })

  test('is understood in a stream that stays open', async () => {
    await using server = await startHostileServer(
      untilCalled((_, response, body) => {
        response.writeHead(200, { ...events, 'content-encoding': 'gzip' })
        const gzip = createGzip()
        gzip.pipe(response)
        gzip.write(event({ jsonrpc: '2.0', id: body.id, result }))
        gzip.flush()
      }),
    )
    await using remote = agentAt(server.url)
    expect(JSON.stringify(await remote.ask('echo'))).toContain('unpacked')
  })

  test.each([
    ['grows beyond the limit', 'gzip', gzipSync(`[${' '.repeat(64 << 20)}]`)],
    ['is cut off', 'gzip', gzipSync('x'.repeat(10_000)).subarray(0, 30)],
    ['has an unknown coding', 'zstd', Buffer.from('x')],
  ])('is refused where the answer %s', async (_, coding, bytes) => {
    await using server = await startHostileServer(
      untilCalled((_request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
          .end(bytes),
      ),
    )
    await using remote = agentAt(server.url)
    expect(await rejection(remote.ask('echo'))).toMatchObject({ code: 'upstream_invalid' })
  })
})
