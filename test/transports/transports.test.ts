import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import { maxInFlight } from '../../src/transports/shared/flow-control.ts'
import { allReady, onEachConnection } from '../support/connections.ts'
import { askEverywhere, expectAlike } from '../support/everywhere.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { makeTokens } from '../support/tokens.ts'
import { openTransports, type TestTransport } from '../support/transports.ts'
import { type Credentials, cases, publication } from './cases.ts'

let home: TestGateway
let transports: TestTransport[]
let tokens: Record<Credentials, string | undefined>

beforeAll(async () => {
  home = await startGateway()
  tokens = await makeTokens(home)
  transports = openTransports(home)
  const token = await home.token('owner')
  for (const name of ['com.example.staged', 'com.example.listed']) {
    const { status } = await home.request('POST', '/api/agents/publish', { token, body: publication(name) })
    expect(status).toBe(201)
  }
  const live = await home.request('POST', '/api/agents/com.example.listed/go-live', { token })
  expect(live.json.state).toBe('ACTIVE')
}, 30_000)

afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

/** The same outcome for each transport that has connections, by its name. */
function alike<T>(outcome: T): Record<string, T> {
  return Object.fromEntries(transports.flatMap(({ name, connect }) => (connect ? [[name, outcome]] : [])))
}

describe('every transport answers alike', () => {
  test.each(cases)('$name', async (row) => {
    const first = expectAlike(await askEverywhere(home, transports, row, tokens[row.as ?? 'none']))
    if (row.code) expect(first).toEqual({ code: row.code })
    else row.output?.((first as { output: Json }).output)
  })

  test('a connection processes at most 16 calls at the same time, and answers all of them', async () => {
    const calls = Array.from({ length: 40 }, (_, index) => index + 1)
    const outcomes = await onEachConnection(transports, async ({ connection, work }) => {
      for (const id of calls) connection.send(id)
      await work.begun(maxInFlight)
      await allReady()
      work.finish()
      for (const id of calls) await connection.answer(id)
      return { peak: work.peak(), answers: calls.length }
    })
    expect(outcomes).toEqual(alike({ peak: 16, answers: 40 }))
  })

  test('a connection that drains answers its calls, starts no new ones, and closes', async () => {
    const outcomes = await onEachConnection(transports, async ({ connection, work }) => {
      for (const id of [1, 2, 3]) connection.send(id)
      await work.begun(3)
      const drained = connection.drain().then(() => 'closed')
      await allReady()
      connection.send(4)
      await allReady()
      const early = await Promise.race([drained, allReady().then(() => 'open')])
      work.finish()
      const answers = [1, 2, 3].map((id) => connection.answer(id).then(() => 'answered'))
      const lostCall = drained.then(allReady).then(() => 'lost')
      const calls = await Promise.all(answers.map((answer) => Promise.race([answer, lostCall])))
      return { early, calls, late: await drained, begun: work.count() }
    })
    const calls = ['answered', 'answered', 'answered']
    expect(outcomes).toEqual(alike({ early: 'open', calls, late: 'closed', begun: 3 }))
  })

  test('the table holds at least 40 cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(40)
    expect(transports.length).toBeGreaterThanOrEqual(9)
    expect(transports.filter(({ connect }) => connect).length).toBeGreaterThanOrEqual(4)
  })

  test('and the gateway is ready afterwards', async () => {
    const { status } = await home.request('GET', '/readyz')
    expect(status).toBe(200)
  })
})
