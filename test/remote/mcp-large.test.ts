import { afterAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { answerJson } from '../support/mcp-answers.ts'
import { startHostileServer } from '../support/mcp-servers.ts'

const package_name = 'com.example.large'
const discover = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
}
const tool = { name: 'tool', description: 'x'.repeat(500), inputSchema: { type: 'object' } }
const named = (at: number, inputSchema: object = tool.inputSchema) => ({
  ...tool,
  name: `tool_${at}`,
  inputSchema,
})

/** Refers to itself at every level. */
const recursive = {
  type: 'object',
  properties: { child: { $ref: '#' }, other: { $ref: '#/$defs/a' } },
  $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
}

let lists = 0
const listings: Readonly<Record<string, () => object[]>> = {
  'ten thousand': () => Array.from({ length: 10_000 }, (_, at) => named(at)),
  changing: () => [named(lists++)],
  recursive: () => [named(1, recursive)],
}
let listing = 'changing'

const server = await startHostileServer((_, response, body) => {
  const { method, params } = body ?? {}
  const text = () => 'x'.repeat(Number(params.arguments.length))
  const result =
    method === 'server/discover'
      ? discover
      : method === 'tools/list'
        ? { tools: listings[listing]?.(), ttlMs: 0, cacheScope: 'private' }
        : { content: [{ type: 'text', text: text() }] }
  return answerJson(response, body, { result: { resultType: 'complete', ...result } })
})
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: server.origin })
await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: server.url }] })
const token = await gateway.token('ada')
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
async function ask(method: string, params: Record<string, unknown>): Promise<any> {
  const answer = await gateway.request('POST', `/mcp/agents/${package_name}`, {
    body: modernRequest(1, method, params),
    headers: modernHeaders(method, params.name as string | undefined),
    token,
  })
  return messageIn(answer.text)
}

test.each([1_000, 2_900_000])('a text of %d characters passes whole', async (length) => {
  const { result } = await ask('tools/call', { name: 'say', arguments: { length } })
  expect(result.content[0].text).toHaveLength(length)
})

test('a result of more than 3 MiB is a failure that says so', async () => {
  const { result } = await ask('tools/call', { name: 'say', arguments: { length: 3_300_000 } })
  expect(result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('upstream_invalid') }],
  })
  expect(result.content[0].text).toMatch(/3 MiB|3145728/)
})

test('a list of ten thousand tools in one page is a failure that says so', async () => {
  listing = 'ten thousand'
  const { error } = await ask('tools/list', {})
  expect(error).toMatchObject({ data: { code: 'upstream_invalid', retryable: false } })
  expect(error.message).toMatch(/3 MiB|3145728/)
})

test('a list that changes at each request passes as it is, each time', async () => {
  listing = 'changing'
  const first = await ask('tools/list', {})
  const second = await ask('tools/list', {})
  const names = [first, second].map(({ result }) => result.tools[0].name)
  expect(new Set(names).size).toBe(2)
})

test('schemas that refer to themselves pass as they are', async () => {
  listing = 'recursive'
  const { result } = await ask('tools/list', {})
  expect(result.tools[0].inputSchema).toEqual(recursive)
})
