import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const capabilities = [
  {
    name: 'forecast',
    description: 'The weather of tomorrow.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

let token: string

const agent = await serveEnvelopes()
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
token = await gateway.token('ada-the-caller')
const endpoints = [{ protocol: 'envelope' as const, url: agent.url }]
await list(gateway, { package_name: 'com.example.weather', endpoints, capabilities })

afterAll(() => agent[Symbol.asyncDispose]())
afterAll(() => gateway[Symbol.asyncDispose]())

function send(to: string, action: string, params: object, options: object = { token }) {
  return gateway.request('POST', '/a2a/message', { body: { to, action, params }, ...options })
}

describe('an agent that takes envelopes', () => {
  test('is called by its package name and by its address', async () => {
    for (const to of ['com.example.weather', 'custom.com.example.weather']) {
      const answer = await send(to, 'forecast', { city: 'Oslo' })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json).toEqual({ action: 'forecast', params: { city: 'Oslo' } })
    }
    expect(agent.received.at(-1)).toMatchObject({ to: 'custom.com.example.weather', action: 'forecast' })
  })

  test('does not receive params that its schema refuses, nor unknown actions', async () => {
    const before = agent.hits()
    const refused = await send('com.example.weather', 'forecast', { city: 7 })
    expect(refused).toMatchObject({
      status: 400,
      json: {
        code: 'invalid_request',
        errors: [{ pointer: '/city', detail: 'This must be string, not 7.' }],
      },
    })
    const missing = await send('com.example.weather', 'forcast', {})
    expect(missing).toMatchObject({ status: 404, json: { code: 'unknown_action', nearest: ['forecast'] } })
    expect(agent.hits()).toBe(before)
  })

  test('may have done its work where the connection breaks during the call, and not where none opened', async () => {
    await using breaking = await serveEnvelopes((_, response) => void response.socket?.destroy())
    await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: `${breaking.origin},http://127.0.0.1:9` })
    const call = async (package_name: string, url: string) => {
      const capability = { name: 'pay', description: 'Pays a bill.' }
      await list(home, {
        package_name,
        endpoints: [{ protocol: 'envelope', url }],
        capabilities: [capability],
      })
      const body = { to: package_name, action: 'pay', params: {} }
      return await home.request('POST', '/a2a/message', { body, token: await home.token('ada') })
    }
    const broken = await call('com.example.bank', breaking.url)
    expect(broken.json).toMatchObject({
      code: 'upstream_failed',
      hint: expect.stringContaining('may have done'),
    })
    expect(breaking.hits()).toBe(1)
    expect((await call('com.example.closed', 'http://127.0.0.1:9/')).json).not.toHaveProperty('hint')
  })

  test('can be called only by callers with the scope', async () => {
    const anonymous = await send('com.example.weather', 'forecast', { city: 'Oslo' }, {})
    expect(anonymous).toMatchObject({ status: 401, json: { code: 'unauthenticated', scope: 'a2a:call' } })
    const reader = await gateway.token('eve', { scopes: ['agents:read'] })
    const forbidden = await send('com.example.weather', 'forecast', { city: 'Oslo' }, { token: reader })
    expect(forbidden).toMatchObject({ status: 403, json: { code: 'forbidden' } })
  })

  test('learns that the gateway calls on behalf of a caller, and never which one', async () => {
    await send('com.example.weather', 'forecast', { city: 'Oslo' })
    const { headers } = agent.received.at(-1) ?? {}
    expect(headers).toMatchObject({ via: '1.1 dragoman (com.example.weather)' })
    expect(headers?.authorization).toBeUndefined()
    expect(JSON.stringify(headers)).not.toContain(token)
    const assertion = String(headers?.['dragoman-assertion'])
    const keys = createRemoteJWKSet(new URL(`${gateway.url}/.well-known/jwks.json`))
    const { payload } = await jwtVerify(assertion, keys, { audience: agent.url })
    expect(payload).toMatchObject({ act: { sub: payload.iss } })
    expect(payload.sub).toMatch(/^[\w-]{43}$/)
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(120)
    expect(JSON.stringify(payload)).not.toContain('ada-the-caller')
    expect(decodeProtectedHeader(assertion).typ).toBe('dragoman-assertion+jwt')
    const misused = await send('com.example.weather', 'forecast', { city: 'Oslo' }, { token: assertion })
    expect(misused.status).toBe(401)
  })

  test('recognises a caller again, and distinguishes callers', async () => {
    const subjectOf = async (who: string) => {
      await send('com.example.weather', 'forecast', { city: 'Oslo' }, { token: await gateway.token(who) })
      const [, claims = ''] = String(agent.received.at(-1)?.headers['dragoman-assertion']).split('.')
      return JSON.parse(Buffer.from(claims, 'base64url').toString()).sub
    }
    const [ada, eve, again] = [await subjectOf('ada'), await subjectOf('eve'), await subjectOf('ada')]
    expect(again).toBe(ada)
    expect(eve).not.toBe(ada)
  })

  test('may ask for input: only its caller can continue the task', async () => {
    await using asking = await serveEnvelopes(({ action, params }, response) => {
      if (action === 'continue_task') return answerJson(response, { went_on: params })
      const question = { text: 'Which city?' }
      answerJson(response, { status: 'input_required', agent: 'com.elsewhere', task_id: 'task 1', question })
    })
    await using other = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: asking.origin })
    const to = 'com.example.asking'
    await list(other, { package_name: to, endpoints: [{ protocol: 'envelope', url: asking.url }] })
    const ada = await other.token('ada')
    const ask = (action: string, params: object, token = ada) =>
      other.request('POST', '/a2a/message', { body: { to, action, params }, token })
    const waits = (await ask('book', {})).json
    expect(waits).toMatchObject({
      status: 'input_required',
      agent: to,
      question: { text: `${to} asks: Which city?` },
    })
    expect(waits.task_id).not.toBe('task 1')
    const going = { task_id: waits.task_id, input: { city: 'Oslo' } }
    expect((await ask('continue_task', going)).json).toEqual({
      went_on: { task_id: 'task 1', input: { city: 'Oslo' } },
    })
    expect((await ask('continue_task', going, await other.token('eve'))).status).toBe(404)
  })

  test.each([
    ['data', { city: 'Oslo' }, { text: 'See the data of this question.', city: 'Oslo' }],
    ['a list', ['Oslo'], { text: 'See the data of this question.', data: ['Oslo'] }],
    [
      'data with a field of that name',
      { text: 1 },
      { text: 'See the data of this question.', data: { text: 1 } },
    ],
    [
      'a link',
      { parts: [{ url: 'x' }] },
      { parts: [{ text: 'See the data of this question.' }, { url: 'x' }] },
    ],
    [
      'a text in parts',
      { parts: [{ text: 'City?' }, { url: 'x' }] },
      { parts: [{ text: 'City?' }, { url: 'x' }] },
    ],
    [
      'several questions',
      { city: { text: 'City?' }, day: { text: 'Day?' } },
      { city: { text: 'City?' }, day: { text: 'Day?' } },
    ],
  ])('may ask in %s, and the words say who asks', async (_, question, expected) => {
    await using asking = await serveEnvelopes((_request, response) =>
      answerJson(response, { status: 'input_required', agent: 'com.elsewhere', task_id: 't', question }),
    )
    await using other = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: asking.origin })
    const to = 'com.example.asking'
    await list(other, { package_name: to, endpoints: [{ protocol: 'envelope', url: asking.url }] })
    const body = { to, action: 'book', params: {} }
    const { json } = await other.request('POST', '/a2a/message', { body, token: await other.token('ada') })
    const text = JSON.stringify(expected).replaceAll(/"text":"/g, `"text":"${to} asks: `)
    expect(json.question).toEqual(JSON.parse(text))
  })

  test('that the call has passed already is a loop', async () => {
    const headers = { via: '1.1 dragoman (com.example.other), 1.1 dragoman (com.example.weather)' }
    const answer = await send('com.example.weather', 'forecast', { city: 'Oslo' }, { token, headers })
    expect(answer).toMatchObject({ status: 508, json: { code: 'loop_detected' } })
  })

  test('is not called while it is not listed, and only its owner learns why', async () => {
    const owner = await gateway.token('owner')
    const endpoints = [{ protocol: 'envelope', url: agent.url }]
    const body = { package_name: 'com.example.hidden', name: 'x', description: 'x', endpoints, capabilities }
    await gateway.request('POST', '/api/agents/publish', { body, token: owner })
    const own = await send('com.example.hidden', 'forecast', {}, { token: owner })
    expect(own).toMatchObject({ status: 409, json: { code: 'wrong_state' } })
    expect(await send('com.example.hidden', 'forecast', {})).toMatchObject({ status: 404 })
  })

  test('without an endpoint is called at the address of its card', async () => {
    const card = {
      agent_id: 'custom.com.example.carded',
      name: 'Carded',
      description: 'Names no endpoint.',
      capabilities: [{ name: 'greet', description: 'Greets.' }],
    }
    await using own = await serveEnvelopes(({ to, action }, response) =>
      to === undefined ? answerJson(response, card) : answerJson(response, { to, action }),
    )
    await using other = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: own.origin })
    const manifest_url = `${own.origin}/.well-known/agent-card.json`
    const body = { manifest_url }
    const owner = await other.token('owner')
    const published = await other.request('POST', '/api/agents/publish', { body, token: owner })
    await other.request('POST', `/api/agents/${published.json.id}/go-live`, { token: owner })
    const answer = await other.request('POST', '/a2a/message', {
      body: { to: published.json.package_name, action: 'greet', params: {} },
      token: owner,
    })
    expect(answer.json, answer.text).toEqual({ to: 'custom.com.example.carded', action: 'greet' })
  })

  test('without an endpoint is not callable', async () => {
    await list(gateway, { package_name: 'com.example.nowhere', capabilities })
    const answer = await send('com.example.nowhere', 'forecast', { city: 'Oslo' })
    const hint = 'It states no address and no package.'
    expect(answer).toMatchObject({ status: 409, json: { code: 'not_callable', hint } })
  })
})

describe('its answer', () => {
  test.each([
    [
      'a problem that the caller can mend',
      400,
      {
        code: 'invalid_request',
        detail: 'No such city.',
        errors: [{ pointer: '/city', detail: 'Unknown.' }],
      },
      {
        status: 400,
        json: {
          code: 'invalid_request',
          detail: 'The agent says: No such city.',
          errors: [{ pointer: '/city', detail: 'Unknown.' }],
          upstream: { code: 'invalid_request', status: 400 },
        },
      },
    ],
    [
      'a problem of its own',
      500,
      { code: 'internal', detail: 'Broken.' },
      { status: 502, json: { code: 'upstream_failed', detail: 'The agent says: Broken.', retryable: true } },
    ],
    [
      'that it wants a credential',
      401,
      { message: 'no' },
      {
        status: 502,
        json: {
          code: 'upstream_failed',
          upstream: { status: 401 },
          retryable: false,
          hint: expect.stringContaining('credential'),
        },
      },
    ],
    [
      'that it is not what it says it is',
      404,
      'nothing here',
      { status: 502, json: { code: 'upstream_invalid', upstream: { status: 404 }, retryable: false } },
    ],
    [
      'that it is overloaded',
      503,
      'later',
      { status: 502, json: { code: 'upstream_failed', upstream: { status: 503 }, retryable: true } },
    ],
  ])('%s is returned as such', async (_, status, value, expected) => {
    await using strange = await serveEnvelopes((_, response) => answerJson(response, value, status))
    await using other = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: strange.origin })
    await list(other, {
      package_name: 'com.example.strange',
      endpoints: [{ protocol: 'envelope', url: strange.url }],
    })
    const answer = await other.request('POST', '/a2a/message', {
      body: { to: 'com.example.strange', action: 'anything', params: {} },
      token: await other.token('ada'),
    })
    expect(answer).toMatchObject(expected)
  })
})
