import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import { type Outcome, openDoors, type TestDoor } from '../support/doors.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { makeTokens } from '../support/tokens.ts'
import { type Case, type Credentials, cases, publication } from './cases.ts'

let home: TestGateway
let doors: TestDoor[]
let tokens: Record<Credentials, string | undefined>

beforeAll(async () => {
  home = await startGateway()
  tokens = await makeTokens(home)
  doors = openDoors(home)
  const token = await home.token('owner')
  for (const name of ['com.example.staged', 'com.example.listed']) {
    const { status } = await home.request('POST', '/api/agents/publish', { token, body: publication(name) })
    expect(status).toBe(201)
  }
  const live = await home.request('POST', '/api/agents/com.example.listed/go-live', { token })
  expect(live.json.state).toBe('ACTIVE')
}, 30_000)

afterAll(async () => {
  for (const door of doors) await door[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

async function throughRest({ rest, as = 'none' }: Case): Promise<Outcome> {
  if (!rest) throw new Error('No REST row carries this.')
  const token = tokens[as]
  const answer = await home.request(rest.method, rest.path, {
    body: rest.body,
    ...(token !== undefined && { token }),
  })
  if (answer.status >= 400) {
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.json.status).toBe(answer.status)
    return { code: answer.json.code }
  }
  return { output: answer.json as Json }
}

describe('every door answers alike', () => {
  test.each(cases)('$name', async (one) => {
    const outcomes: Record<string, Outcome> = {}
    await Promise.all(
      doors.map(async (door) => {
        outcomes[door.name] = await door.call(one.envelope, tokens[one.as ?? 'none'])
      }),
    )
    if (one.rest) outcomes.REST = await throughRest(one)
    const [first] = Object.values(outcomes)
    for (const [door, outcome] of Object.entries(outcomes))
      expect({ door, outcome }).toEqual({ door, outcome: first })
    if (one.code) expect(first).toEqual({ code: one.code })
    else one.output?.((first as { output: Json }).output)
  })

  test('the table holds at least 40 cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(40)
    expect(doors).toHaveLength(6)
  })

  test('and is none the worse for it', async () => {
    const { status } = await home.request('GET', '/readyz')
    expect(status).toBe(200)
  })
})
