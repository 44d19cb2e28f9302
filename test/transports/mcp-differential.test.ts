import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { isMessage } from '../../src/common/mcp/message.ts'
import { initialize, initialized, modernHeaders, modernRequest } from '../support/mcp.ts'
import { startPair } from '../support/referee.ts'
import { rounds } from '../support/rounds.ts'
import { sampleAction, sampleAgent } from '../support/router.ts'

const frozen = Object.freeze({ name: 'É \u2028 "quoted"', deep: { list: [1, null, true] } })
const listed = ['com.example.one', 'io.github.user/two'].map((package_name) => ({
  package_name,
  name: package_name,
  description: 'x'.repeat(300),
  updated_at: '2026-11-01T00:00:00.000Z',
}))
const registry = sampleAgent('svc.registry', [
  sampleAction('search_agents', {
    async run(input) {
      const { cursor } = input as { cursor?: string }
      if (cursor === 'bad') throw new Failure('invalid_request', 'The cursor is bad.')
      const facets = { tags: {}, targets: {}, categories: { travel: 1200, tools: 90, news: 3 } }
      return { agents: listed, total: 1234, next_cursor: cursor ? null : 'next', facets }
    },
  }),
  sampleAction('get_agent', {
    advertised: false,
    async run(input) {
      const { agent } = input as { agent: string }
      const found = listed.find((entry) => entry.package_name === agent)
      if (agent === 'com.example.broken') throw new Error('broken')
      if (!found) throw new Failure('not_found', 'None.', { nearest: ['com.example.one'] })
      return found
    },
  }),
  sampleAction('complete_name', {
    advertised: false,
    run: async () => ({ names: ['com.example.one'], total: 1, more: false }),
  }),
])
const agents = [
  registry,
  sampleAgent('svc.box', [
    sampleAction('echo'),
    sampleAction('frozen', { run: async () => frozen }),
    sampleAction('list', { run: async () => [1, 'two'] }),
    sampleAction('nothing', { run: async () => null }),
    sampleAction('fail', {
      run: () => Promise.reject(new Failure('not_found', 'Nothing here.', { hint: 'Look elsewhere.' })),
    }),
    sampleAction('break', { run: () => Promise.reject(new Error('broken')) }),
    sampleAction('hurry', {
      async run(_, { emit }) {
        await emit({ progress: 1, total: 2, message: 'half' })
        await emit({ progress: 2, total: 2 })
        return { done: true }
      },
    }),
  ]),
]

const pair = await startPair(agents)
afterAll(() => pair[Symbol.asyncDispose]())

const call = (name: unknown, input?: unknown): Record<string, unknown> => ({
  name,
  ...(input !== undefined && { arguments: input }),
})

const completing = (ref: object, name: string) => ({ ref, argument: { name, value: 't' } })

/** Requests that are right as requests, whatever their tools make of them. */
const valid: readonly (readonly [string, Record<string, unknown>])[] = [
  ['server/discover', {}],
  ['tools/list', {}],
  ['tools/list', { cursor: 'next' }],
  ['tools/call', call('box_echo', { text: 'a\u0000b', more: [{}] })],
  ['tools/call', call('box_echo')],
  ['tools/call', call('box_frozen')],
  ['tools/call', call('box_list')],
  ['tools/call', call('box_nothing')],
  ['tools/call', call('box_fail')],
  ['tools/call', call('box_break')],
  ['tools/call', call('box_hurry')],
  ['tools/call', call('call_agent', { package_name: 'svc.box', action: 'echo', params: { a: 1 } })],
  ['tools/call', call('call_agent', { package_name: 'svc.none', action: 'echo' })],
  ['tools/call', call('box_ecko')],
  ['tools/call', call(7)],
  ['tools/call', call('box_echo', 'text')],
  ['tools/call', call('box_echo', [])],
  ['tools/call', {}],
  ['tools/none', {}],
  ['initialize', {}],
  ['ping', {}],
  ['toString', {}],
  ['resources/list', {}],
  ['resources/list', { cursor: 'next' }],
  ['resources/list', { cursor: 'bad' }],
  ['resources/templates/list', {}],
  ['resources/templates/list', { cursor: 'next' }],
  ['resources/read', { uri: 'agent://com.example.one' }],
  ['resources/read', { uri: 'agent://io.github.user%2Ftwo' }],
  ['resources/read', { uri: 'agent://io.github.user/two' }],
  ['resources/read', { uri: 'agent://com.example.none' }],
  ['resources/read', { uri: 'agent://com.example.broken' }],
  ['resources/read', { uri: 'agent://%' }],
  ['resources/read', { uri: 'agent://' }],
  ['resources/read', { uri: 'other://com.example.one' }],
  ['resources/subscribe', { uri: 'agent://com.example.one' }],
  ['prompts/list', {}],
  ['prompts/list', { cursor: '' }],
  ['prompts/get', { name: 'find_agent', arguments: { task: 'Translate "é".', category: 'tools' } }],
  ['prompts/get', { name: 'use_agent', arguments: { package_name: 'com.example.one', goal: 'g' } }],
  ['prompts/get', { name: 'find_agent' }],
  ['prompts/get', { name: 'find_agent', arguments: { task: ' ' } }],
  ['prompts/get', { name: 'find_agent', arguments: { task: 'a', color: 'red' } }],
  ['prompts/get', { name: 'x' }],
  [
    'completion/complete',
    completing({ type: 'ref/resource', uri: 'agent://{package_name}' }, 'package_name'),
  ],
  ['completion/complete', completing({ type: 'ref/prompt', name: 'use_agent' }, 'package_name')],
  ['completion/complete', completing({ type: 'ref/prompt', name: 'find_agent' }, 'category')],
  ['completion/complete', completing({ type: 'ref/prompt', name: 'find_agent' }, 'task')],
  ['completion/complete', completing({ type: 'ref/prompt', name: 'find_agent' }, 'color')],
  ['completion/complete', completing({ type: 'ref/prompt', name: 'none' }, 'task')],
  ['completion/complete', completing({ type: 'ref/resource', uri: 'agent://x' }, 'package_name')],
]

/** Where the SDK is wrong, ours and its code, and why. */
const differences: readonly (readonly [string, Record<string, unknown>, number, number])[] = [
  // server/utilities/pagination: invalid cursors are -32602; the SDK lets its own parser's error through.
  ['tools/list', { cursor: 7 }, -32602, -32603],
  // server/prompts, server/resources, server/utilities/completion: so are params that are not right.
  ['resources/list', { cursor: 7 }, -32602, -32603],
  ['resources/read', {}, -32602, -32603],
  ['prompts/get', { name: 7 }, -32602, -32603],
  ['prompts/get', { name: 'find_agent', arguments: { task: 7 } }, -32602, -32603],
  ['completion/complete', { ref: { type: 'ref/other' } }, -32602, -32603],
]

const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** What the SDK says, but for the code of params that it refuses by its own parser. */
const but = (method: string, value: unknown): unknown =>
  method === 'tools/call'
    ? value
    : JSON.parse(JSON.stringify(value).replaceAll('"code":-32603', '"code":-32602'))

const nameIn = ({ name, uri }: Record<string, unknown>) => {
  const value = name ?? uri
  return typeof value === 'string' ? value : undefined
}

describe('our dispatcher answers as the SDK does', () => {
  test.each(valid)('over HTTP: %s %j', async (method, params) => {
    const body = JSON.stringify(modernRequest('a', method, params))
    const { ours, sdks } = await pair.ask(body, modernHeaders(method, nameIn(params)))
    expect(ours).toEqual(sdks)
  })

  test.each(valid)('on a connection: %s %j', async (method, params) => {
    const { ours, sdks } = await pair.say(modernRequest(0, method, params))
    expect(ours).toEqual(sdks)
  })

  test.each(['{', 'text', '[]', '[1]', '"text"', '7', '{}', '{"jsonrpc":"2.0","id":{},"method":"a"}'])(
    'over HTTP, to an invalid message: %s',
    async (body) => {
      const { ours, sdks } = await pair.ask(body, modernHeaders('tools/list'))
      expect(ours).toEqual(sdks)
    },
  )

  test.each(differences)('but for %s %j', async (method, params, ours, sdks) => {
    const value = await pair.say(modernRequest(0, method, params))
    expect(value).toMatchObject({ ours: [{ error: { code: ours } }], sdks: [{ error: { code: sdks } }] })
  })

  test('with progress, as events', async () => {
    const request = modernRequest(1, 'tools/call', call('box_hurry')) as { params: { _meta: object } }
    Object.assign(request.params._meta, { progressToken: 't' })
    const { ours, sdks } = await pair.ask(JSON.stringify(request), modernHeaders('tools/call', 'box_hurry'))
    expect(ours).toEqual(sdks)
    expect([ours.type, ours.messages.length]).toEqual(['text/event-stream', 3])
    const value = await pair.say(request)
    expect(value.ours).toEqual(value.sdks)
    expect(value.ours).toHaveLength(3)
  })
})

describe('with initialize too', () => {
  // lifecycle: params that are not right are -32602; the SDK lets its own parser's error through.
  const requests = valid.filter(([method]) => method !== 'initialize')

  test.each(requests)('over HTTP: %s %j', async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params })
    const { ours, sdks } = await pair.ask(body, { ...accept, 'MCP-Protocol-Version': '2025-06-18' })
    expect(ours.messages).toEqual(sdks.messages)
    expect(ours.status).toBe(sdks.status)
  })

  test.each(requests)('on a connection: %s %j', async (method, params) => {
    const request = { jsonrpc: '2.0', id: 0, method, params }
    const { ours, sdks } = await pair.say(initialize('first'), initialized, request)
    expect(ours).toEqual(sdks)
  })

  test.each([...legacyVersions, '2024-10-07', '2026-07-28', '2099-01-01', 'old'])(
    'over HTTP and on a connection, for a client of %s',
    async (version) => {
      const { ours, sdks } = await pair.ask(
        JSON.stringify(initialize('first', { protocolVersion: version })),
        accept,
      )
      expect(ours.messages).toEqual(sdks.messages)
      const connection = await pair.say(initialize('first', { protocolVersion: version }))
      expect(connection.ours).toEqual(connection.sdks)
    },
  )

  test('but for an initialize without a protocol version', async () => {
    const { ours, sdks } = await pair.say(initialize('first', { protocolVersion: undefined }))
    expect([ours, sdks]).toMatchObject([[{ error: { code: -32602 } }], [{ error: { code: -32603 } }]])
  })

  test('to a header of an unknown protocol version', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const { ours, sdks } = await pair.ask(body, { ...accept, 'MCP-Protocol-Version': '2020-01-01' })
    expect([ours.status, sdks.status]).toEqual([400, 400])
  })

  test.each([
    [{ id: 1, method: 'ping' }, { id: 2, method: 'tools/list' }, { method: 'notifications/initialized' }],
    [{ id: 1, method: 'tools/call', params: call('box_hurry') }],
    [{ method: 'notifications/initialized' }],
    [],
    [
      { id: 1, method: 'ping' },
      { id: {}, method: 'ping' },
    ],
  ])('to a batch of 2025-03-26, with the answers in one array: %j', async (...batch) => {
    const body = JSON.stringify(batch.map((message) => ({ jsonrpc: '2.0', ...message })))
    const { ours, sdks } = await pair.ask(body, { ...accept, 'MCP-Protocol-Version': '2025-03-26' })
    expect([ours.status, ours.messages]).toEqual([sdks.status, sdks.messages])
  })

  test('to a notification, as nothing', async () => {
    const { ours, sdks } = await pair.ask(JSON.stringify(initialized), accept)
    expect([ours.status, ours.messages]).toEqual([sdks.status, sdks.messages])
  })
})

const encoded = ['=?base64?Ym94X2VjaG8=?=', '=?base64?w5xubGlrZQ==?=', '=?base64?Ym=?=', '=?base64?/w==?=']
const absent = Symbol('absent')

/** What is right nine times of ten, so that one thing at a time is wrong. */
const mostly = (right: unknown, ...wrong: unknown[]) =>
  fc.oneof({ arbitrary: fc.constant(right), weight: 9 }, { arbitrary: fc.constantFrom(...wrong), weight: 1 })

const meta = fc.record({
  'io.modelcontextprotocol/protocolVersion': mostly('2026-07-28', absent, '2025-11-25', '2099-01-01', '', 7),
  'io.modelcontextprotocol/clientCapabilities': mostly(
    {},
    absent,
    null,
    [],
    { elicitation: {} },
    { elicitation: { form: 1 } },
    { sampling: 1 },
    { experimental: { a: 1 } },
    { experimental: { a: {} }, roots: { listChanged: true } },
    { extensions: { 'a/b': {} }, own: 7 },
  ),
  'io.modelcontextprotocol/clientInfo': mostly(
    { name: 'a', version: '1' },
    absent,
    {},
    'a',
    { name: 'a', version: '1', icons: [{}] },
    { name: 'a', version: '1', title: 7 },
  ),
  'io.modelcontextprotocol/logLevel': mostly(absent, 'info', 'loud'),
  progressToken: mostly('p', absent, 1, 1.5, null),
})
const methods = [
  'tools/call',
  'tools/call',
  'tools/list',
  'server/discover',
  'tools/none',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'completion/complete',
]
const ref = fc.record({
  type: mostly('ref/prompt', 'ref/resource', 'ref/none', absent, 7),
  name: mostly('use_agent', absent, 'none', 7),
  uri: mostly('agent://{package_name}', absent, 'agent://x', null),
})
const argument = fc.record({
  name: mostly('package_name', 'goal', absent, 'none', 7),
  value: mostly('c', absent, 7, ''),
})
const nameOf = (method: string) => {
  if (method === 'prompts/get') return 'find_agent'
  return method === 'resources/read' ? 'agent://com.example.one' : 'box_echo'
}
const request = fc.constantFrom(...methods).chain((method) =>
  fc.record({
    id: fc.constantFrom<unknown>(1, 'a', '', -3, 0),
    method: fc.constant(method),
    params: fc.record({
      name: mostly(nameOf(method), absent, 'Ünlike', 7),
      arguments: mostly({ task: 'a' }, absent, 'text', {}, { task: 7 }, { other: 'a' }, []),
      uri: mostly('agent://com.example.one', absent, 'agent://Ü', 'x', 7, 'agent://a%2Fb%2Fc'),
      cursor: mostly(absent, 'next', 'bad', 7, null),
      ref: fc.oneof({ arbitrary: ref, weight: 9 }, { arbitrary: fc.constant(absent), weight: 1 }),
      argument: fc.oneof({ arbitrary: argument, weight: 9 }, { arbitrary: fc.constant(absent), weight: 1 }),
      context: mostly(absent, {}, 7, { arguments: { goal: 'x' } }, { arguments: { goal: 7 } }),
      _meta: fc.oneof({ arbitrary: meta, weight: 9 }, { arbitrary: fc.constant(absent), weight: 1 }),
    }),
    headers: fc.record({
      'MCP-Protocol-Version': mostly('2026-07-28', absent, ' 2026-07-28 ', '2025-11-25', '2099-01-01'),
      'Mcp-Method': mostly(method, absent, 'tools/list', 'Tools/Call'),
      'Mcp-Name': mostly(nameOf(method), absent, ...encoded, 'box_list'),
    }),
  }),
)

/** The same value without absent members. */
function present(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const defined = Object.entries(value).filter(([, entry]) => entry !== absent)
  return Object.fromEntries(defined.map(([name, entry]) => [name, present(entry)]))
}

interface Made {
  readonly method: string
  readonly params: { readonly _meta?: object }
  readonly headers?: Readonly<Record<string, string>>
}

/** With neither of these the request is of the 2025 era, which the SDK answers on both sides. */
const isModern = ({ params, headers }: Made) =>
  'io.modelcontextprotocol/protocolVersion' in (params._meta ?? {}) ||
  (headers?.['MCP-Protocol-Version']?.trim() ?? '') >= '2026'

describe('the SDK finds the same error in each invalid request', () => {
  const options = { numRuns: rounds(600), seed: 7 }

  test('over HTTP', async () => {
    const property = fc.asyncProperty(request, async (made) => {
      const { headers, ...message } = present(made) as Made
      fc.pre(isModern({ ...message, headers: headers ?? {} }))
      const { ours, sdks } = await pair.ask(JSON.stringify({ jsonrpc: '2.0', ...message }), {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      })
      expect(ours).toEqual(but(message.method, sdks))
    })
    await fc.assert(property, options)
  })

  test('on a connection', async () => {
    const property = fc.asyncProperty(request, async (made) => {
      const { headers: _, ...rest } = present(made) as Made
      const message = { jsonrpc: '2.0', ...rest }
      // What is no message at all is refused before either side meets it.
      fc.pre(isModern(rest) && isMessage(message))
      const { ours, sdks } = await pair.say(message)
      expect(ours).toEqual(but(message.method, sdks))
    })
    await fc.assert(property, options)
  })

  test('and takes the same values for messages', () => {
    const loose = fc.constantFrom<unknown>(absent, null, {}, [], 'a', 1, 1.5, 2 ** 60, true)
    const meta = fc.record({ progressToken: loose, 'io.modelcontextprotocol/related-task': loose })
    const message = fc.record({
      jsonrpc: fc.constantFrom<unknown>('2.0', '2.0', '2.0', '1.0', absent),
      id: loose,
      method: fc.oneof(loose, fc.constant('tools/list')),
      params: fc.oneof(loose, fc.record({ _meta: fc.oneof(loose, meta) })),
      result: fc.oneof(fc.constant(absent), loose, fc.record({ _meta: loose })),
      error: fc.oneof(fc.constant(absent), loose, fc.record({ code: loose, message: loose })),
      more: fc.constantFrom<unknown>(absent, absent, absent, 1),
    })
    const sdkTakes = (value: unknown) =>
      isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value)
    const property = fc.property(message, (made) => {
      const value = JSON.parse(JSON.stringify(present(made)))
      expect(isMessage(value)).toBe(sdkTakes(value))
    })
    void fc.assert(property, { numRuns: rounds(5000), seed: 7 })
  })
})
