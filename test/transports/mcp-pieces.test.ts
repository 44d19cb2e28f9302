import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../schemas/json.ts'
import { createPieces } from '../../src/transports/mcp/views/pieces.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { startModernServer } from '../support/mcp-servers.ts'

const text = (words: string) => ({ type: 'text' as const, text: words })
const lines = (count: number) =>
  Array.from({ length: count }, (_, line) => `Line ${line} of the answer.\n`).join('')

describe('an answer above its budget', () => {
  function open(answer: { output?: JsonObject | string; blocks?: JsonObject[]; isError?: boolean }) {
    const time = { now: 0 }
    const pieces = createPieces(() => time.now)
    const { output = null, blocks, isError } = answer
    const result = { content: blocks ?? [], ...(isError && { isError }) }
    const content = { protocol: 'mcp' as const, result }
    const first = (tokens: number) => pieces.first({ output, ...(blocks && { content }) }, 'ada', tokens)
    return { time, pieces, first }
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  const blocksOf = (answer: any) => answer.content.result.content as any[]

  test('comes whole if it fits, as the same object', () => {
    const { pieces } = open({})
    const answer = { output: { text: 'x'.repeat(300) } }
    expect(pieces.first(answer, 'ada', 100)).toBe(answer)
  })

  test.each([
    ['a text', { text: lines(100) }, lines(100)],
    ['an object', { rows: [1, 2, 3], long: 'x'.repeat(900) }, undefined],
    ['a list', Array.from({ length: 200 }, (_, row) => ({ row })) as never, undefined],
    ['a line that is longer than the budget', { text: `x${'🦜'.repeat(1000)}` }, `x${'🦜'.repeat(1000)}`],
  ])('ends at a line, and its pieces are %s together', (_, output: JsonObject, whole) => {
    const { pieces, first } = open({ output })
    let piece = first(60).output as JsonObject
    const texts: string[] = []
    while (true) {
      const { text: part, next_cursor, next } = piece as { text: string; next_cursor?: string; next?: string }
      expect(part.length).toBeLessThanOrEqual(240)
      texts.push(part)
      expect(next === undefined).toBe(next_cursor === undefined)
      if (next_cursor === undefined) break
      // A cursor may be used again, since answers get lost.
      expect(pieces.next(next_cursor, 'ada', 60)).toEqual(pieces.next(next_cursor, 'ada', 60))
      piece = pieces.next(next_cursor, 'ada', 60).output as JsonObject
    }
    if (texts[0]?.startsWith('Line')) for (const part of texts) expect(part).toMatch(/^Line(.|\n)*\n$/)
    if (whole === undefined) expect(JSON.parse(texts.join(''))).toEqual(output)
    else expect(texts.join('')).toBe(whole)
    for (const part of texts) expect(part.isWellFormed()).toBe(true)
  })

  test('uses its budget where a line is longer than that', () => {
    const { text: part } = open({ output: { long: 'x'.repeat(900), short: 1 } }).first(60).output as {
      text: string
    }
    expect(part).toMatch(/^\{\n"long":"x{200}/)
    expect(part).toHaveLength(240)
  })

  test('has a row of a table on a line, and says how much is left', () => {
    const rows = Array.from({ length: 1000 }, (_, row) => ({ row, load: { cpu: 7, memory: 40 } }))
    const { text: part, next } = open({ output: { host: 'db-1', rows } }).first(1000).output as {
      text: string
      next: string
    }
    expect(part).toMatch(/^\{\n"host":"db-1",\n"rows":\[\n\{"row":0,"load":\{"cpu":7,"memory":40\}\},\n/)
    expect(part).toMatch(/\},\n$/)
    expect(next).toContain('The answer goes on, by some 9,500 tokens.')
  })

  test('keeps blocks whole, and a picture counts as one however many bytes it has', () => {
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(200_000) }
    const { pieces, first } = open({ blocks: [text('One.'), image, text('Two.'), image, text('Three.')] })
    expect(first(4000)).toMatchObject({ content: { result: { content: { length: 5 } } } })
    const piece = first(2000)
    expect(blocksOf(piece).slice(0, -1)).toEqual([text('One.'), image, text('Two.')])
    const { next_cursor, next } = JSON.parse(blocksOf(piece).at(-1).text)
    expect(next).toContain('call_agent')
    expect(blocksOf(pieces.next(next_cursor, 'ada', 2000))).toEqual([image, text('Three.')])
  })

  test('shows structured content once, as text with lines, and stays an error', () => {
    const { first } = open({ blocks: [text(lines(20))], isError: true })
    expect(first(50).content).toMatchObject({ result: { isError: true } })
    const structured = { rows: Array.from({ length: 100 }, (_, row) => row) }
    const pieces = createPieces(() => 0)
    const content = [text('See.'), text(JSON.stringify(structured))]
    const result = { content, structuredContent: structured }
    const answer = pieces.first({ output: null, content: { protocol: 'mcp', result } }, 'ada', 50)
    expect(blocksOf(answer)[0]).toEqual(text('See.'))
    expect(blocksOf(answer)).toHaveLength(3)
    expect(blocksOf(answer)[1].text).toMatch(/^\{\n"rows":\[\n/)
    expect(answer.content).not.toHaveProperty('result.structuredContent')
  })

  test('is kept for its caller alone, for ten minutes, the last four of each caller', () => {
    const { time, pieces, first } = open({ output: { text: lines(100) } })
    const cursorOf = () => (first(60).output as { next_cursor: string }).next_cursor
    const cursor = cursorOf()
    expect(pieces.next(cursor, 'ada', 60)).toHaveProperty('output.text')
    const gone = { code: 'cursor_expired', details: { hint: expect.any(String) } }
    expect(() => pieces.next(cursor, 'eve', 60)).toThrow(expect.objectContaining(gone))
    time.now = 600_000
    expect(() => pieces.next(cursor, 'ada', 60)).toThrow(expect.objectContaining(gone))
    const older = cursorOf()
    const newer = [cursorOf(), cursorOf(), cursorOf()]
    expect(pieces.next(older, 'ada', 60)).toHaveProperty('output.text')
    cursorOf()
    expect(() => pieces.next(older, 'ada', 60)).toThrow(expect.objectContaining(gone))
    for (const each of newer) expect(pieces.next(each, 'ada', 60)).toHaveProperty('output.text')
    for (const forged of ['x', '', btoa('["a", -1, 0]'), btoa('{}')]) {
      expect(() => pieces.next(forged, 'ada', 60)).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      )
    }
  })
})

test('call_agent answers in pieces that the official client reads to the end', async () => {
  await using agent = await serveEnvelopes((_, response) => answerJson(response, { text: lines(8000) }))
  const block = text(lines(3000))
  await using server = await startModernServer({ answers: { say: () => ({ content: [block, block] }) } })
  await using gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: `${agent.origin},${server.origin}` })
  await list(gateway, {
    package_name: 'com.example.long',
    endpoints: [{ protocol: 'envelope', url: agent.url }],
  })
  await list(gateway, {
    package_name: 'com.example.tools',
    endpoints: [{ protocol: 'mcp', url: server.url }],
  })
  const headers = { Authorization: `Bearer ${await gateway.token('ada')}` }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }),
  )
  const call = async (input: object) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests look into results freely
    (await client.callTool({ name: 'call_agent', arguments: { ...input } })) as any

  const words = { agent: 'com.example.long', action: 'tell', params: {} }
  let result = await call(words)
  let read = ''
  let pieces = 0
  while (true) {
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
    expect(result.structuredContent.text.length).toBeLessThanOrEqual(80_000)
    read += result.structuredContent.text
    pieces++
    const { next_cursor } = result.structuredContent
    if (next_cursor === undefined) break
    result = await call({ cursor: next_cursor })
  }
  expect([pieces, read]).toEqual([3, lines(8000)])
  expect((await call({ ...words, max_tokens: 100_000 })).structuredContent).toEqual({ text: lines(8000) })

  const answer = await call({ agent: 'com.example.tools', action: 'say', params: {}, max_tokens: 30_000 })
  expect(answer.content[0]).toEqual(block)
  expect(answer.content[1].text).toMatch(/^Line 0(.|\n)*\n$/)
  const { next_cursor } = JSON.parse(answer.content[2].text)
  const rest = await call({ cursor: next_cursor, max_tokens: 30_000 })
  expect([rest.content.length, answer.content[1].text + rest.content[0].text]).toEqual([1, block.text])

  const wrong = await call({ ...words, max_tokens: 1 })
  expect([wrong.isError, wrong._meta['dragoman/problem'].errors]).toMatchObject([
    true,
    [{ pointer: '/max_tokens' }],
  ])
  await client.close()
})
