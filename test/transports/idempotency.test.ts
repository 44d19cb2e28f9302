import { afterAll, describe, expect, test } from 'vitest'
import { serveEnvelopes } from '../support/envelope-agent.ts'
import { type Answer, startGateway } from '../support/gateway.ts'
import { publication } from '../support/registry.ts'
import { type Outcome, openTransports, stdioProcess, writable } from '../support/transports.ts'

const home = await startGateway()
const beside = await startGateway({ DRAGOMAN_DATA: home.data })
const transports = writable(openTransports(home, stdioProcess))
const token = await home.token('ada')
afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await beside[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

let made = 0
const fresh = () => `com.repeats.agent-${++made}`
const publish = (body: object, key: string, by = token, at = home): Promise<Answer> =>
  at.request('POST', '/api/agents/publish', { body, token: by, headers: { 'Idempotency-Key': key } })
const idOf = (outcome: Outcome) =>
  'output' in outcome ? (outcome.output as { id: string }).id : outcome.code

async function live(more: object = {}): Promise<string> {
  const name = fresh()
  await home.request('POST', '/api/agents/publish', { body: publication(name, more), token })
  await home.request('POST', `/api/agents/${name}/go-live`, { token })
  return name
}

describe('a creating call with a key', () => {
  test('creates once, at whichever transport it is repeated', async () => {
    const body = publication(fresh())
    const first = await publish(body, '"one-key"')
    expect(first.status).toBe(201)
    const again = await publish(body, 'one-key')
    expect([again.status, again.json, again.headers.get('etag')]).toEqual([
      201,
      first.json,
      first.headers.get('etag'),
    ])
    for (const transport of transports) {
      const params = { ...body, idempotency_key: 'one-key' }
      const envelope = { to: 'svc.registry', action: 'publish', params }
      expect([transport.name, idOf(await transport.call(envelope, token))]).toEqual([
        transport.name,
        first.json.id,
      ])
    }
  })

  test('begins at any transport', async () => {
    for (const transport of transports) {
      const key = `begun at ${transport.name}`.replaceAll(' ', '-')
      const body = publication(fresh())
      const params = { ...body, idempotency_key: key }
      const id = idOf(await transport.call({ to: 'svc.registry', action: 'publish', params }, token))
      expect((await publish(body, key)).json.id).toBe(id)
    }
  })

  test('creates once when two processes receive it at the same time', async () => {
    const body = publication(fresh())
    const sent = [home, beside, home, beside, home, beside]
    const answers = await Promise.all(sent.map((at) => publish(body, 'at-once', token, at)))
    const ids = answers.filter(({ status }) => status === 201).map(({ json }) => json.id)
    expect(new Set(ids).size).toBe(1)
    for (const { status, json, headers } of answers) {
      if (status === 201) continue
      expect(json).toMatchObject({ code: 'conflict', retryable: true, retry_after_s: 1 })
      expect(headers.get('retry-after')).toBe('1')
    }
    expect((await publish(body, 'at-once', token, beside)).json.id).toBe(ids[0])
  })

  test('is refused with another body, a key that is none, and a key in the body', async () => {
    const name = fresh()
    expect((await publish(publication(name), 'k')).status).toBe(201)
    const other = await publish(publication(fresh()), 'k')
    expect(other.headers.get('retry-after')).toBeNull()
    expect([other.status, other.json.errors[0].pointer]).toEqual([409, '/idempotency_key'])
    expect((await publish(publication(fresh()), '""')).status).toBe(400)
    expect((await publish(publication(fresh()), 'x'.repeat(201))).status).toBe(400)
    const body = { ...publication(fresh()), idempotency_key: 'k' }
    const answer = await home.request('POST', '/api/agents/publish', { body, token })
    expect([answer.status, answer.json.errors[0].pointer]).toEqual([400, '/idempotency_key'])
  })

  test('that failed may be sent again', async () => {
    const body = publication(await live())
    expect((await publish(body, 'taken')).json.code).toBe('conflict')
    expect((await publish(publication(fresh()), 'taken')).status).toBe(201)
  })

  test('belongs to one caller: others have their own keys, and an anonymous caller has none', async () => {
    const create = (by?: string) =>
      home.request('POST', '/api/playground/session', {
        body: {},
        headers: { 'Idempotency-Key': 'session' },
        ...(by !== undefined && { token: by }),
      })
    const [mine, again, other] = [
      await create(token),
      await create(token),
      await create(await home.token('eve')),
    ]
    expect(mine.status).toBe(201)
    expect(again.json).toEqual(mine.json)
    expect(other.json.id).not.toBe(mine.json.id)
    expect((await create()).json.code).toBe('unauthenticated')
  })

  test('keeps no API key: each call makes another one', async () => {
    const create = () =>
      home.request('POST', '/api/keys', { body: {}, token, headers: { 'Idempotency-Key': 'secret' } })
    expect((await create()).json.id).not.toBe((await create()).json.id)
  })
})

describe('a conditional call', () => {
  const put = (name: string, headers: Record<string, string>) =>
    home.request('PUT', `/api/agents/${name}`, { body: { tags: ['a'] }, token, headers })
  const etagOf = async (name: string) =>
    (await home.request('GET', `/api/agents/${name}`, { token })).headers.get('etag') ?? ''

  test('holds of the entry that its caller read, one of several that they read, or any', async () => {
    const name = await live()
    const old = await etagOf(name)
    expect((await put(name, { 'If-Match': old })).status).toBe(200)
    const refused = await put(name, { 'If-Match': old })
    const { json } = await home.request('GET', `/api/agents/${name}`)
    expect(refused.json).toMatchObject({ status: 412, code: 'precondition_failed', revision: json.revision })
    expect((await put(name, { 'If-Match': `${old}, ${await etagOf(name)}` })).status).toBe(200)
    expect((await put(name, { 'If-Match': '*' })).status).toBe(200)
    expect((await put(name, { 'If-Match': `W/${await etagOf(name)}` })).status).toBe(412)
    expect((await put(name, { 'If-Match': '"another"' })).status).toBe(412)
    expect((await put(name, { 'If-None-Match': '*' })).status).toBe(412)
    expect((await put(fresh(), { 'If-None-Match': '*' })).status).toBe(404)
    expect((await put(fresh(), { 'If-Match': '*' })).status).toBe(404)
  })

  test.each([
    ['update', {}],
    ['go_live', {}],
    ['unpublish', {}],
    ['delete', {}],
    ['transfer', { subject: 'eve' }],
    ['deprecate', {}],
  ])('%s, is refused at every transport if another change came first', async (action, more) => {
    const name = await live()
    for (const transport of transports) {
      const params = { agent: name, expected_revision: 1, ...more }
      const outcome = await transport.call({ to: 'svc.registry', action, params }, token)
      expect([transport.name, outcome]).toEqual([transport.name, { code: 'precondition_failed' }])
    }
    expect((await home.request('GET', `/api/agents/${name}`)).json.state).toBe('ACTIVE')
  })
})

describe('a deprecated agent over HTTP', () => {
  test('is announced in headers, on reads and on calls, and still answers', async () => {
    await using agent = await serveEnvelopes()
    const calling = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(agent.url).origin })
    await using _ = calling
    const by = await calling.token('ada')
    const [old, better] = ['com.old.agent', 'com.better/agent']
    for (const name of [old, better]) {
      const endpoints = [{ protocol: 'envelope', url: agent.url }]
      await calling.request('POST', '/api/agents/publish', {
        body: publication(name, { endpoints }),
        token: by,
      })
      await calling.request('POST', `/api/agents/${encodeURIComponent(name)}/go-live`, { token: by })
    }
    const envelope = { to: old, action: 'do_it', params: {} }
    const call = () => calling.request('POST', '/a2a/message', { body: envelope, token: by })
    expect((await call()).headers.get('deprecation')).toBeNull()
    const body = { message: 'It is slow.', successor: better }
    const answer = await calling.request('POST', `/api/agents/${old}/deprecate`, { body, token: by })
    const since = `@${Math.floor(Date.parse(answer.json.deprecated.at) / 1000)}`
    const read = await calling.request('GET', `/public/agents/${old}`)
    const called = await call()
    expect(called.json).toEqual({ action: 'do_it', params: {} })
    for (const { headers } of [answer, read, called]) {
      expect(headers.get('deprecation')).toBe(since)
      expect(headers.get('link')).toBe('</public/agents/com.better%2Fagent>; rel="successor-version"')
    }
    const card = await calling.request('GET', `/a2a/v1/${old}/.well-known/agent-card.json`)
    expect(card.json.capabilities.extensions[0].params.deprecated).toEqual(answer.json.deprecated)
  })
})
