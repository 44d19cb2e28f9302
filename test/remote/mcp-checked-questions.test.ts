import { expect, test } from 'vitest'
import type { JsonObject } from '../../schemas/json.ts'
import { checkedQuestions, offeredCapabilities } from '../../src/remote/mcp/questions.ts'

const asker = { package_name: 'com.example.asker', own_origins: () => ['https://gateway.example'] }
const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

const check = (params: JsonObject, capabilities: JsonObject = everything) =>
  checkedQuestions({ q: { method: 'elicitation/create', params } }, capabilities, asker)

const form = (name: string, field: JsonObject = { type: 'string' }) => ({
  message: 'Hello',
  requestedSchema: { type: 'object', properties: { [name]: field } },
})

test('a form names the agent that asks, without characters that steer a terminal', () => {
  expect(check({ ...form('city'), message: 'Where\u001b[2J?' })).toMatchObject({
    q: { params: { message: 'com.example.asker asks: Where [2J?' } },
  })
})

test.each([
  'token',
  'access_token',
  'apiKey',
  'API key',
  'Password',
  'authorization',
  'client_secret',
  'pin',
])('a form that asks for %s is not passed on, whether by name or by title', (name) => {
  const refusal = { code: 'upstream_invalid', message: expect.stringContaining('secret') }
  expect(() => check(form(name))).toThrow(expect.objectContaining(refusal))
  expect(() => check(form('field', { type: 'string', title: name }))).toThrow(
    expect.objectContaining(refusal),
  )
})

test.each(['max_tokens', 'tokens', 'keyboard', 'shipping', 'key', 'secretary'])(
  'a form that asks for %s is passed on',
  (name) => {
    expect(check(form(name))).toHaveProperty('q')
  },
)

test.each([
  ['of this gateway', { mode: 'url', message: 'Go', url: 'https://gateway.example/login' }, everything],
  [
    'of this gateway without TLS, which leads to it,',
    { mode: 'url', message: 'Go', url: 'http://gateway.example/login' },
    everything,
  ],
  ['that runs a program', { mode: 'url', message: 'Go', url: 'javascript:alert(1)' }, everything],
  [
    'of a client that opens none',
    { mode: 'url', message: 'Go', url: 'https://a.example/' },
    { elicitation: {} },
  ],
])('an address %s is not passed on', (_, params, capabilities) => {
  expect(() => check(params, capabilities)).toThrow(expect.objectContaining({ code: 'upstream_invalid' }))
})

test('a gateway on loopback is refused under each of its names', () => {
  const local = { ...asker, own_origins: () => ['http://127.0.0.1:8080'] }
  const visit = (url: string) => () =>
    checkedQuestions({ q: { method: 'elicitation/create', params: { url } } }, everything, local)
  expect(visit('http://localhost:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://[::1]:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://a.localhost:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://localhost.:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://127.1:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://127.0.0.2:8080/oauth/device')).toThrow(/to this gateway/)
  expect(visit('http://localhost:9090/')()).toHaveProperty('q')
})

test.each([
  ['its prompt', { systemPrompt: 'Be\u{E0041} brief.', messages: [] }],
  ['a message', { messages: [{ role: 'user', content: { type: 'text', text: 'Hello\u202e' } }] }],
])('a question for the model of a client is not passed on if it hides characters in %s', (_, params) => {
  const questions = { q: { method: 'sampling/createMessage', params: { ...params, maxTokens: 10 } } }
  expect(() => checkedQuestions(questions, everything, asker)).toThrow(/hides characters/)
})

test('an address elsewhere is passed on to a client that opens addresses', () => {
  expect(check({ mode: 'url', message: 'Go', url: 'https://a.example/' })).toHaveProperty('q')
})

test.each(['sampling/createMessage', 'roots/list', 'tools/call', 'toString'])(
  '%s is not asked of a client that does not offer it',
  (method) => {
    const ask = () => checkedQuestions({ q: { method } }, { elicitation: {} }, asker)
    expect(ask).toThrow(expect.objectContaining({ code: 'upstream_invalid' }))
  },
)

test.each([
  [
    'eleven questions',
    Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`q${at}`, { method: 'roots/list' }])),
  ],
  ['64 Ki characters', { q: { method: 'roots/list', params: { text: 'x'.repeat(65_536) } } }],
])('%s are too much', (_, questions) => {
  expect(() => checkedQuestions(questions as JsonObject, everything, asker)).toThrow(/more than 10 questions/)
})

test.each([
  [undefined, { elicitation: { form: {} } }],
  [{ roots: {} }, { roots: {}, elicitation: { form: {} } }],
  [{ sampling: {} }, { sampling: {} }],
  [{ elicitation: { url: {}, more: 'x' }, experimental: {} }, { elicitation: { url: {} } }],
])('a client that states %j is shown to the server as %j', (stated, offered) => {
  expect(offeredCapabilities(stated)).toEqual(offered)
})
