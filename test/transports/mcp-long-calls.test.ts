import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Call } from '../../src/router/call.ts'
import { LongCalls } from '../../src/transports/mcp/views/long-calls.ts'
import { answerJson, type EnvelopeAgent, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { eventually } from '../support/mcp-agent.ts'

const name = 'com.example.studio'
let agent: EnvelopeAgent
let gateway: TestGateway
let token: string
/** The requests that the agent works on. */
let working: ServerResponse[]

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  working = []
  agent = await serveEnvelopes((_, response) => void working.push(response))
  gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin, DRAGOMAN_CALL_FIRST: '3600' })
  await list(gateway, {
    package_name: name,
    endpoints: [{ protocol: 'envelope', url: agent.url }],
    capabilities: [{ name: 'render', description: 'Renders a film.' }],
  })
  token = await gateway.token('ada')
})
afterEach(async () => {
  vi.useRealTimers()
  for (const response of working) response.destroy()
  await gateway[Symbol.asyncDispose]()
  await agent[Symbol.asyncDispose]()
})

async function call(more: object, by = token) {
  const params = { name: 'call_agent', arguments: { agent: name, action: 'render', ...more } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { json } = await gateway.request('POST', '/mcp', { body, token: by })
  return JSON.parse(json.result.content[0].text)
}

async function begin(): Promise<string> {
  const begun = call({ params: {} })
  await eventually(() => working.length).toBe(1)
  const answer = await afterWait(begun)
  expect(answer).toEqual({ status: 'working', next_cursor: expect.any(String), next: expect.any(String) })
  expect(answer.next).toContain('Do not start the call again.')
  return answer.next_cursor
}

test('a call of minutes is answered before hosts give up, and its answer is waited for by a cursor', async () => {
  const cursor = await begin()
  await vi.advanceTimersByTimeAsync(60_000)
  const answer = call({ cursor })
  answerJson(working[0] as ServerResponse, { film: 'fox.mp4' })
  expect(await answer).toEqual({ film: 'fox.mp4' })
  // Answers get lost.
  expect(await call({ cursor })).toEqual({ film: 'fox.mp4' })
  expect(agent.hits()).toBe(1)
})

test('a call that nobody asks for is cancelled after ten minutes', async () => {
  const cursor = await begin()
  const closed = once(working[0] as ServerResponse, 'close')
  await vi.advanceTimersByTimeAsync(600_000)
  await closed
  const expired = await call({ cursor })
  expect(expired).toMatchObject({ code: 'cursor_expired', hint: expect.stringContaining('may have done') })
})

test('nobody but its caller waits for a call', async () => {
  const cursor = await begin()
  expect(await call({ cursor }, await gateway.token('eve'))).toMatchObject({ code: 'cursor_expired' })
})

test('while it works, a call is answered again and again, and its progress reaches the request that waits', async () => {
  const { calls, callOf, work, works } = open()
  const first = await afterWait(calls.run(callOf(), 'ada', work))
  const cursor = cursorIn(first)
  expect(await afterWait(calls.follow(cursor, callOf(), 'ada'))).toEqual({ cursor })
  const updates: unknown[] = []
  const emit = async (update: object) => void updates.push(update)
  const last = calls.follow(cursor, callOf({ emit }), 'ada')
  await works[0]?.call.emit?.({ progress: 2 })
  works[0]?.end('film')
  expect(await last).toEqual({ outcome: 'film' })
  await works[0]?.call.emit?.({ progress: 3 })
  expect(updates).toEqual([{ progress: 2 }])
})

test('a caller who leaves while it waits cancels the call', async () => {
  const { calls, callOf, work, works } = open()
  const cursor = cursorIn(await afterWait(calls.run(callOf(), 'ada', work)))
  const leaving = new AbortController()
  void calls.follow(cursor, callOf({ signal: leaving.signal }), 'ada')
  expect(works[0]?.call.signal.aborted).toBe(false)
  leaving.abort()
  expect(works[0]?.call.signal.aborted).toBe(true)
})

test('a request that was repeated cancels nothing when it leaves, and the later one has the progress', async () => {
  const { calls, callOf, work, works } = open()
  const cursor = cursorIn(await afterWait(calls.run(callOf(), 'ada', work)))
  const leaving = new AbortController()
  const early = calls.follow(cursor, callOf({ signal: leaving.signal }), 'ada')
  await vi.advanceTimersByTimeAsync(1_000)
  const updates: unknown[] = []
  const late = calls.follow(cursor, callOf({ emit: async (update) => void updates.push(update) }), 'ada')
  leaving.abort()
  expect(works[0]?.call.signal.aborted).toBe(false)
  await vi.advanceTimersByTimeAsync(44_000)
  expect(await early).toEqual({ cursor })
  await works[0]?.call.emit?.({ progress: 1 })
  works[0]?.end('film')
  expect(await late).toEqual({ outcome: 'film' })
  expect(updates).toEqual([{ progress: 1 }])
})

test('calls that begin at once count as if one had begun after the other', async () => {
  const { calls, callOf, work, works } = open()
  const begun = Array.from({ length: 10 }, () => calls.run(callOf(), 'ada', work))
  await vi.advanceTimersByTimeAsync(60_000)
  for (const { end } of works) end('film')
  const answers = await Promise.all(begun)
  expect(answers.filter((answer) => 'cursor' in answer)).toHaveLength(8)
})

test('of one caller, eight calls work unattended, and a ninth is waited for', async () => {
  const { calls, callOf, work, works } = open()
  for (let count = 0; count < 8; count++) await afterWait(calls.run(callOf(), 'ada', work))
  const ninth = calls.run(callOf(), 'ada', work)
  await vi.advanceTimersByTimeAsync(60_000)
  works[8]?.end('film')
  expect(await ninth).toEqual({ outcome: 'film' })
})

test('a call whose answer its caller has got makes room for the next', async () => {
  const { calls, callOf, work, works } = open()
  const cursors: string[] = []
  for (let count = 0; count < 8; count++)
    cursors.push(cursorIn(await afterWait(calls.run(callOf(), 'ada', work))))
  works[2]?.end('film')
  const [first = '', , third = ''] = cursors
  const follow = (cursor: string) => calls.follow(cursor, callOf(), 'ada')
  expect(await follow(third)).toEqual({ outcome: 'film' })
  expect(await follow(third)).toEqual({ outcome: 'film' })
  cursorIn(await afterWait(calls.run(callOf(), 'ada', work)))
  await expect(follow(third)).rejects.toMatchObject({ code: 'cursor_expired' })
  expect(await afterWait(follow(first))).toEqual({ cursor: first })
})

/** Calls whose work ends when a test ends it. */
function open() {
  const works: { call: Call; end: (outcome: string) => void }[] = []
  const work = (call: Call) => new Promise<string>((end) => works.push({ call, end }))
  const callOf = (more: Partial<Call> = {}): Call => ({
    principal: null,
    signal: new AbortController().signal,
    client: 'local',
    emit: async () => {},
    ...more,
  })
  return { calls: new LongCalls<string>(), callOf, work, works }
}

async function afterWait<Answer>(answer: Promise<Answer>): Promise<Answer> {
  await vi.advanceTimersByTimeAsync(45_000)
  return await answer
}

function cursorIn(answer: object): string {
  return 'cursor' in answer ? String(answer.cursor) : expect.fail('The call has ended.')
}
