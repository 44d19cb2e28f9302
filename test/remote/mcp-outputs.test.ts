import { afterAll, expect, test } from 'vitest'
import { rejection } from '../net/support.ts'
import { agentAt } from '../support/mcp-agent.ts'
import { startModernServer } from '../support/mcp-servers.ts'

const server = await startModernServer({ answers: { say: (result) => result } })
const remote = agentAt(server.url)
afterAll(async () => {
  await remote[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const text = (words: string) => ({ type: 'text', text: words })
const bytes = (length: number) => Buffer.alloc(length, 1).toString('base64')
const small = bytes(3)
const deep = `${'['.repeat(33)}${']'.repeat(33)}`
const prototype = '{"__proto__": {"a": 1}}'
const resource = (rest: object) => ({ type: 'resource', resource: { uri: 'file:///a', ...rest } })

test.each([
  ['structured content', { content: [text('{ "a": 1 }')], structuredContent: { a: 1 } }, { a: 1 }],
  ['wrapped content', { content: [text('[1]')], structuredContent: { result: [1] } }, { result: [1] }],
  ['a wrapped text', { content: [text('x')], structuredContent: { result: 'x' } }, { result: 'x' }],
  [
    'structured content with words of its own',
    { content: [text('One.')], structuredContent: { a: 1 } },
    { text: 'One.', data: { a: 1 } },
  ],
  [
    'structured content beside a link',
    {
      content: [text('{"a":1}'), { type: 'resource_link', uri: 'https://a.example/', name: 'a' }],
      structuredContent: { a: 1 },
    },
    { data: { a: 1 }, content: [{ uri: 'https://a.example/', name: 'a' }] },
  ],
  ['structured content of any kind', { content: [], structuredContent: [1, null] }, [1, null]],
  ['structured content that is null', { content: [text('null')], structuredContent: null }, null],
  ['one text that is an object', { content: [text(' {"a": [1]} ')] }, { a: [1] }],
  ['one text that is an array', { content: [text('[1, 2]')] }, [1, 2]],
  ['one text that is only nearly an object', { content: [text('{a}')] }, { text: '{a}' }],
  ['one text that is another JSON value', { content: [text('12')] }, { text: '12' }],
  ['one text that is nested too deep for a message', { content: [text(deep)] }, { text: deep }],
  ['one text with a key that no message may have', { content: [text(prototype)] }, { text: prototype }],
  ['texts', { content: [text('{"a": 1}'), text('two')] }, { text: '{"a": 1}\ntwo' }],
  ['nothing', { content: [] }, { text: '' }],
  [
    'an image and a text',
    { content: [{ type: 'image', mimeType: 'image/png', data: small }, text('a cat')] },
    { content: [{ media_type: 'image/png', base64: small }, { text: 'a cat' }] },
  ],
  [
    'a sound that is too long',
    { content: [{ type: 'audio', mimeType: 'audio/wav', data: bytes(256 * 1024 + 1) }] },
    { content: [{ media_type: 'audio/wav', bytes: 256 * 1024 + 1 }] },
  ],
  [
    'a link',
    { content: [{ type: 'resource_link', uri: 'https://a/b', name: 'b', mimeType: 'text/csv' }] },
    { content: [{ uri: 'https://a/b', media_type: 'text/csv', name: 'b' }] },
  ],
  [
    'a text resource',
    { content: [resource({ text: 'hi' })] },
    { content: [{ uri: 'file:///a', text: 'hi' }] },
  ],
  [
    'a resource of bytes',
    { content: [resource({ blob: small, mimeType: 'a/b' })] },
    { content: [{ uri: 'file:///a', media_type: 'a/b', base64: small }] },
  ],
])('%s becomes the output', async (_, result, output) => {
  expect(await remote.ask('say', result)).toEqual(output)
})

test('more than 3 MiB is refused, and said', async () => {
  const result = { content: [], structuredContent: { words: 'x'.repeat(3 * 1024 * 1024) } }
  expect(await rejection(remote.ask('say', result))).toMatchObject({
    code: 'upstream_invalid',
    message: expect.stringMatching(/3145728/),
  })
})

test('structured content that is nested too deep is refused, and the same call is not worth a retry', async () => {
  const result = { content: [], structuredContent: { deep: JSON.parse(deep) } }
  expect(await rejection(remote.ask('say', result))).toMatchObject({
    code: 'upstream_invalid',
    message: expect.stringMatching(/deeper than 32 levels/),
    details: { retryable: false },
  })
})

const problem = (code: string, rest: object = {}) => ({
  content: [text('…')],
  isError: true,
  _meta: { 'dragoman/problem': { code, detail: 'So it is.', ...rest } },
})

test.each([
  [
    'in words',
    { content: [text('one'), text('two')], isError: true },
    { code: 'upstream_failed', message: 'The agent says: one\ntwo', details: { retryable: false } },
  ],
  [
    'without a word',
    { content: [], isError: true },
    { code: 'upstream_failed', message: 'The tool failed without a reason.' },
  ],
  [
    'by structured content alone',
    { content: [], structuredContent: { reason: 'closed' }, isError: true },
    { code: 'upstream_failed', message: 'The agent says: {"reason":"closed"}' },
  ],
  [
    'in too many words',
    { content: [text('x'.repeat(9_000))], isError: true },
    { message: expect.stringMatching(/^The agent says: x{2000}…$/) },
  ],
  [
    'as v1 of the SDK tells of wrong arguments',
    { content: [text('MCP error -32602: Input validation error: a is missing')], isError: true },
    { code: 'invalid_request', message: 'The agent says: Input validation error: a is missing' },
  ],
  [
    'as v1 of the SDK tells of an unknown tool',
    { content: [text('MCP error -32602: Tool nope not found')], isError: true },
    { code: 'unknown_action' },
  ],
  [
    'in the words of FastMCP for an unknown tool',
    { content: [text("Unknown tool: 'say'")], isError: true },
    { code: 'unknown_action', message: "The agent says: Unknown tool: 'say'" },
  ],
  [
    'about a tool that is not the called one',
    { content: [text("Unknown tool: 'drill'")], isError: true },
    { code: 'upstream_failed' },
  ],
  [
    'as another Dragoman, by what the caller can mend',
    problem('invalid_request', { errors: [{ pointer: '/a', detail: 'Must be.', more: 1 }, 'junk'] }),
    {
      code: 'invalid_request',
      message: 'The agent says: So it is.',
      details: { errors: [{ pointer: '/a', detail: 'Must be.' }] },
    },
  ],
  ['as another Dragoman, in a circle', problem('loop_detected'), { code: 'loop_detected' }],
  [
    'as another Dragoman, by its own affair',
    problem('rate_limited', { retry_after_s: 7 }),
    {
      code: 'upstream_failed',
      details: { upstream: { code: 'rate_limited' }, retry_after_s: 7, retryable: true },
    },
  ],
  [
    'as another Dragoman, for want of a token of ours',
    problem('unauthenticated'),
    {
      code: 'upstream_failed',
      details: {
        upstream: { code: 'unauthenticated' },
        hint: expect.stringMatching('credential'),
        retryable: false,
      },
    },
  ],
  ['by a code that is none of ours', problem('toString'), { details: { retryable: false } }],
  [
    'by a code that is none of ours, for a while',
    problem('busy', { retryable: true }),
    { code: 'upstream_failed', details: { retryable: true } },
  ],
])('a tool fails %s', async (_, result, failure) => {
  expect(await rejection(remote.ask('say', result))).toMatchObject(failure)
})

test('a task that the server did not start cannot be continued', async () => {
  const call = remote.ask('echo', {}, { task: { task_id: '1' } })
  expect(await rejection(call)).toMatchObject({ code: 'not_found' })
})
