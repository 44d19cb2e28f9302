import { once } from 'node:events'
import { SignJWT } from 'jose'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import type { Json } from '../../schemas/json.ts'
import type { Call } from '../../src/router/call.ts'
import { type LimitedCaller, noLimits } from '../../src/router/limiter.ts'
import { maxInFlight } from '../../src/transports/shared/flow-control.ts'
import { allReady, connectionsOf, onEachConnection, type TestConnection } from '../support/connections.ts'
import { askEverywhere, expectAlike } from '../support/everywhere.ts'
import { signerOf, startGateway, type TestGateway } from '../support/gateway.ts'
import { openTransports, type TestTransport } from '../support/transports.ts'
import { type Credentials, cases, publication } from './cases.ts'

/** A token for each kind of caller; undefined for the anonymous caller. */
async function makeTokens(home: TestGateway): Promise<Record<Credentials, string | undefined>> {
  const { key, issuer } = await signerOf(home)
  const good = await home.token('stranger')
  const [head, payload = '', signature] = good.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const raised = Buffer.from(JSON.stringify({ ...claims, scope: 'admin' })).toString('base64url')

  const signed = (header: { kid?: string }, audience: string) =>
    new SignJWT({ scope: 'agents:read' })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('stranger')
      .setJti('1')
      .setExpirationTime('1h')
      .sign(key.private_key)
  return {
    none: undefined,
    good,
    reader: await home.token('stranger', { scopes: ['agents:read'] }),
    expired: await home.token('stranger', { ttl_s: -60 }),
    tampered: `${head}.${raised}.${signature}`,
    kidless: await signed({}, issuer),
    foreign: await signed({ kid: key.kid }, 'urn:somebody:else'),
    garbage: 'garbage',
  }
}

const home = await startGateway({ DRAGOMAN_CONTACT: '' })
const tokens = await makeTokens(home)
const transports = openTransports(home)
const token = await home.token('owner')
for (const name of ['com.example.staged', 'com.example.listed']) {
  const { status } = await home.request('POST', '/api/agents/publish', { token, body: publication(name) })
  expect(status).toBe(201)
}
const live = await home.request('POST', '/api/agents/com.example.listed/go-live', { token })
expect(live.json.state).toBe('ACTIVE')

afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

/** The same outcome for each transport that has connections, by its name. */
function alike<T>(outcome: T): Record<string, T> {
  return Object.fromEntries(connectionsOf(transports).map(({ name }) => [name, outcome]))
}

/** Longer than a busy machine takes to notice that a connection has closed. */
function aWhile(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5000).unref())
}

/** A router whose calls run until their callers leave. */
function hangingRouter() {
  let arrival = Promise.withResolvers<Call>()
  return {
    dispatch(_: unknown, call: Call): Promise<never> {
      arrival.resolve(call)
      return new Promise((_, reject) => {
        call.signal.addEventListener('abort', () => reject(call.signal.reason))
      })
    },
    /** Resolves to the next call. */
    next(): Promise<Call> {
      arrival = Promise.withResolvers()
      return arrival.promise
    },
  }
}

/** How a connection refuses the message that is in the way: the code of the answer or of the close. */
async function refusalOn({ answer, closed }: TestConnection): Promise<string> {
  const answered = answer(null).then((refusal) =>
    JSON.stringify(refusal).includes('"too_large"') ? 'refused' : JSON.stringify(refusal),
  )
  return await Promise.race([answered, closed.then((code) => (code === 1009 ? 'closed' : `closed: ${code}`))])
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

  test('a message that is larger than the transport reads is refused, and no call begins', async () => {
    const outcomes = await onEachConnection(transports, async ({ connection, work }) => {
      connection.send(1, ' '.repeat(11 * 1024 * 1024))
      const refusal = await Promise.race([refusalOn(connection), work.first.then(() => 'begun')])
      if (refusal !== 'refused') return refusal === 'closed'
      work.finish()
      connection.send(2)
      await connection.answer(2)
      return work.count() === 1
    })
    expect(outcomes).toEqual(alike(true))
  })

  test('a connection whose peer does not read closes when it drains', async () => {
    const outcomes: Record<string, string> = {}
    // One after the other, since the fake clock is the clock of all.
    for (const transport of transports) {
      const outcome = await onEachConnection([transport], async ({ connection, work }) => {
        for (let id = 1; id <= maxInFlight; id++) connection.send(id)
        await work.begun(maxInFlight)
        connection.stall()
        work.finish({ text: 'x'.repeat(1_000_000) })
        await allReady()
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
        const drained = connection.drain().then(() => 'closed')
        for (let second = 0; second < 15; second++) {
          await vi.advanceTimersByTimeAsync(1000)
          await new Promise((resolve) => setImmediate(resolve))
        }
        vi.useRealTimers()
        return await Promise.race([drained, aWhile().then(() => 'open')])
      })
      Object.assign(outcomes, outcome)
    }
    expect(outcomes).toEqual(alike('closed'))
  })

  test('a call says where it comes from, and ends when its caller leaves', async () => {
    const router = hangingRouter()
    await using hanging = await startGateway({}, {}, (gateway) => ({ ...gateway, dispatch: router.dispatch }))
    const opened = openTransports(hanging)
    const outcomes: Record<string, unknown> = {}
    for (const transport of opened) {
      await using _ = transport
      const next = router.next()
      const leaving = new AbortController()
      const envelope = { to: 'svc.registry', action: 'search', params: { query: 'wiki' } }
      const left = transport.call(envelope, undefined, leaving.signal).catch(() => {})
      const { client, signal } = await next
      const ended = once(signal, 'abort').then(() => 'ended')
      leaving.abort()
      outcomes[transport.name] = { client, call: await Promise.race([ended, aWhile().then(() => 'runs')]) }
      void left
    }
    const clientOf = (transport: TestTransport) =>
      transport.kind === 'connection' && transport.isLocal ? 'local' : { address: '127.0.0.1', via: [] }
    expect(outcomes).toEqual(
      Object.fromEntries(
        opened.map((transport) => [transport.name, { client: clientOf(transport), call: 'ended' }]),
      ),
    )
  })

  test('what a call costs is charged to its caller, and a caller whose calls cost too much is refused', async () => {
    const charge = vi.fn()
    const limits = {
      ...noLimits,
      charge,
      overCost: ({ principal }: LimitedCaller) =>
        principal ? undefined : new Failure('rate_limited', 'Your requests cost too much.'),
    }
    await using metered = await startGateway({}, {}, (gateway) => ({ ...gateway, limits }))
    const token = await metered.token('owner')
    const opened = openTransports(metered)
    const envelope = { to: 'svc.registry', action: 'search', params: { query: 'wiki' } }
    const outcomes: Record<string, unknown> = {}
    for (const transport of opened) {
      await using _ = transport
      const refused = await transport.call(envelope, undefined)
      charge.mockClear()
      const answered = await transport.call(envelope, token)
      const isLocal = transport.kind === 'connection' && transport.isLocal
      // Besides the call, a handshake is charged one unit.
      const ofCall = () => charge.mock.calls.find(([, units]) => units > 1)
      if (!isLocal) await expect.poll(ofCall).toBeDefined()
      const [caller, units] = ofCall() ?? []
      outcomes[transport.name] = isLocal
        ? 'local'
        : [refused, 'output' in answered, caller?.principal?.subject, units > 1]
    }
    const expected = (transport: TestTransport) =>
      transport.kind === 'connection' && transport.isLocal
        ? 'local'
        : [{ code: 'rate_limited' }, true, 'owner', true]
    expect(outcomes).toEqual(
      Object.fromEntries(opened.map((transport) => [transport.name, expected(transport)])),
    )
  })

  test('the table holds at least 40 cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(40)
    expect(transports.length).toBeGreaterThanOrEqual(9)
    expect(connectionsOf(transports).length).toBeGreaterThanOrEqual(4)
  })

  test('and the gateway is ready afterwards', async () => {
    const { status } = await home.request('GET', '/readyz')
    expect(status).toBe(200)
  })
})
