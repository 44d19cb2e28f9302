import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { principalKey } from '../../src/common/principal-key.ts'
import { startGateway } from '../support/gateway.ts'
import { answered, mailAgent, signInRequired, startSignInHome } from '../support/upstream-sign-in.ts'

let now = Date.now()
const options = { clock: () => now, upstream_timeout_ms: 3000 }
const minutes = (count: number) => {
  now += count * 60_000
}

const home = await startSignInHome({}, options)
afterAll(() => home[Symbol.asyncDispose]())
beforeEach(() => {
  home.upstream.answer = () => false
  home.upstream.change = (_, body) => body
})

const refreshes = () => home.upstream.grants.filter(({ grant_type }) => grant_type === 'refresh_token').length

async function credentialsOf(who: string) {
  const token = await home.gateway.token(who)
  return (await home.gateway.request('GET', '/api/credentials', { token })).json.credentials
}

describe('tokens that have ended', () => {
  test('are renewed once for 20 calls at one time, in two processes', async () => {
    await home.signedIn('ada')
    const { data, environment } = home.gateway
    await using other = await startGateway({ ...environment, DRAGOMAN_DATA: data }, options)
    const token = await home.gateway.token('ada')
    const body = { to: mailAgent, action: 'whoami', params: {} }
    const callOf = (gateway: typeof other) => () => gateway.request('POST', '/a2a/message', { body, token })
    const call = callOf(home.gateway)
    const before = refreshes()
    minutes(11)
    const calls = [call, callOf(other)].flatMap((send) => Array.from({ length: 10 }, send))
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject(answered)
    expect(refreshes()).toBe(before + 1)
    expect(await call()).toMatchObject(answered)
    expect(refreshes()).toBe(before + 1)
  })

  test('are renewed for the same resource, by a refresh token that changes each time', async () => {
    await home.signedIn('bob')
    for (let round = 0; round < 3; round++) {
      minutes(11)
      expect(await home.call('bob')).toMatchObject(answered)
    }
    const [first, second, third] = home.upstream.grants.slice(-3)
    expect(first).toMatchObject({ grant_type: 'refresh_token', resource: home.server.url })
    expect(new Set([first, second, third].map((grant) => grant?.refresh_token)).size).toBe(3)
  })

  test('of a server that gives no new refresh token are renewed by the one before', async () => {
    await home.signedIn('carol')
    let uses = 0
    home.upstream.answer = (request, response) => {
      if (request.url !== '/token') return false
      uses++
      const body = { access_token: home.server.calls.at(-1)?.token, token_type: 'Bearer', expires_in: 600 }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
      return true
    }
    expect(await home.call('carol')).toMatchObject(answered)
    for (let round = 0; round < 2; round++) {
      minutes(11)
      expect(await home.call('carol')).toMatchObject(answered)
    }
    expect(uses).toBe(2)
  })

  test('without a refresh token need a new sign-in', async () => {
    home.upstream.change = (path, { refresh_token: _, ...body }) =>
      path === '/token' ? body : { ...body, ...(_ !== undefined && { refresh_token: _ }) }
    await home.signedIn('dave')
    expect(await home.call('dave')).toMatchObject(answered)
    minutes(11)
    expect(await home.call('dave')).toMatchObject(signInRequired)
    expect(await credentialsOf('dave')).toEqual([])
  })

  test('of a grant that its server has ended need a new sign-in', async () => {
    await home.signedIn('erin')
    minutes(11)
    home.upstream.answer = (request, response) => {
      if (request.url !== '/token') return false
      response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}')
      return true
    }
    expect(await home.call('erin')).toMatchObject(signInRequired)
    expect(await credentialsOf('erin')).toEqual([])
  })

  test.each([
    ['olga', 400, {}],
    ['oscar', 401, { 'WWW-Authenticate': 'Basic realm="clients"' }],
  ])(
    'of a server that has forgotten this gateway need a new registration: %s, %d %j',
    async (who, status, challenge) => {
      await home.signedIn(who)
      minutes(11)
      home.upstream.answer = (request, response) => {
        if (request.url !== '/token') return false
        const headers = { 'Content-Type': 'application/json', ...challenge }
        response.writeHead(status, headers).end('{"error":"invalid_client"}')
        return true
      }
      const registrations = () => home.upstream.requests.filter((line) => line === 'POST /reg').length
      const before = registrations()
      const refused = await home.call(who)
      expect(refused).toMatchObject(signInRequired)
      expect(registrations()).toBe(before + 1)
      home.upstream.answer = () => false
      await home.signIn(refused.json.sign_in_url)
      expect(await home.call(who)).toMatchObject(answered)
    },
  )

  test('of a server that does not answer stay, and the call says which server', async () => {
    await home.signedIn('frank')
    minutes(11)
    home.upstream.answer = ({ url }) => url === '/token'
    const { host } = new URL(home.upstream.issuer)
    const failed = await home.call('frank')
    expect(failed).toMatchObject({ status: 502, json: { code: 'upstream_failed' } })
    expect(failed.json.detail).toContain(host)
    home.upstream.answer = () => false
    expect(await home.call('frank')).toMatchObject(answered)
  })
})

test('a token that the agent refuses during a call is renewed, and the call repeated', async () => {
  await home.signedIn('grace')
  expect(await home.call('grace')).toMatchObject(answered)
  const refused = home.server.calls.at(-1)?.token ?? ''
  home.server.revoked.add(refused)
  const before = refreshes()
  const calls = await Promise.all(Array.from({ length: 8 }, () => home.call('grace')))
  for (const answer of calls) expect(answer).toMatchObject(answered)
  expect(refreshes()).toBe(before + 1)
  expect(home.server.calls.at(-1)?.token).not.toBe(refused)
})

describe('tokens end at their server', () => {
  const revocations = () => home.upstream.requests.filter((line) => line.endsWith('/revocation')).length

  test('when their caller forgets the agent', async () => {
    await home.signedIn('heidi')
    expect(await credentialsOf('heidi')).toMatchObject([
      {
        agent: mailAgent,
        kind: 'sign_in',
        sign_in: { issuer: home.upstream.issuer, scopes: expect.arrayContaining(['read']) },
      },
    ])
    const before = revocations()
    const token = await home.gateway.token('heidi')
    const path = `/api/agents/${mailAgent}/credential`
    expect(await home.gateway.request('DELETE', path, { token })).toMatchObject({ status: 204 })
    expect(revocations()).toBeGreaterThan(before)
    expect(await home.call('heidi')).toMatchObject(signInRequired)
  })

  test('when the data of their caller are deleted', async () => {
    await home.signedIn('ivan')
    const before = revocations()
    const token = await home.gateway.token('ivan')
    const body = { confirm: true }
    const deleted = await home.gateway.request('POST', '/api/personal-data/delete', { body, token })
    expect(deleted.status, deleted.text).toBe(200)
    expect(revocations()).toBeGreaterThan(before)
    expect(await home.call('ivan')).toMatchObject(signInRequired)
  })

  test('when their caller is revoked', async () => {
    await home.signedIn('judy')
    const before = revocations()
    const token = await home.gateway.token('judy')
    const body = { to: 'svc.registry', action: 'revoke', params: { subject: 'judy' } }
    await home.gateway.request('POST', '/a2a/message', { body, token })
    expect(revocations()).toBeGreaterThan(before)
    const owner = principalKey({ issuer: 'urn:dragoman:local', subject: 'judy' })
    expect(await home.gateway.gateway.store.credentials.list(owner)).toEqual([])
  })
})

test('no answer and no file of the store holds a token', async () => {
  await home.signedIn('mia')
  await home.call('mia')
  const { token } = home.server.calls.at(-1) ?? { token: '' }
  expect(token.length).toBeGreaterThan(20)
  const owner = principalKey({ issuer: 'urn:dragoman:local', subject: 'mia' })
  const rows = await home.gateway.gateway.store.credentials.list(owner)
  expect(rows).toHaveLength(1)
  expect(JSON.stringify([rows, await credentialsOf('mia')])).not.toContain(token)
})
