import { afterAll, expect, test } from 'vitest'
import { a2aVersion, message } from '../support/a2a.ts'
import { everyScope, startGateway } from '../support/gateway.ts'

const home = await startGateway()
const token = await home.token('ada', { scopes: everyScope })
afterAll(() => home[Symbol.asyncDispose]())

const storedRows = async () =>
  await home.gateway.store.dumpRestore.dump(async ({ rows }) => {
    const found: unknown[] = []
    for await (const page of rows())
      found.push(...page.filter(([table]) => table === 'task' || table === 'playground_step'))
    return found
  })
const send = (action: string, params: object, configuration: object) =>
  home.request('POST', '/a2a/v1/svc.registry/message:send', {
    token,
    headers: a2aVersion,
    body: { ...message([{ data: { action, params } }]), configuration },
  })

const calls = [
  ['create_webhook', { url: 'https://example.com/hook' }, /whsec_/],
  ['create_key', { scopes: ['agents:read'], ttl_s: 3600 }, /drg_/],
] as const

test.each(calls)(
  'the secret of %s is returned in a message, and no task stores it',
  async (action, params, secret) => {
    const asTask = await send(action, params, { returnImmediately: true })
    expect(asTask.json).toMatchObject({ error: { message: expect.stringContaining('returns a secret') } })
    expect((await send(action, params, {})).text).toMatch(secret)
    expect(await storedRows()).toEqual([])
  },
)

test.each(calls)(
  'the secret of %s is not returned in a playground, which stores its steps',
  async (action, params, secret) => {
    const { json } = await home.request('POST', '/api/playground/session', { token })
    const { id } = (await home.request('GET', '/public/agents/svc.registry')).json
    for (const agent of ['svc.registry', id]) {
      const body = { agent, capability: action, input: params }
      const answer = await home.request('POST', `/api/playground/session/${json.id}/execute`, { token, body })
      expect(answer.json).toMatchObject({ code: 'not_callable' })
    }
    expect(JSON.stringify(await storedRows())).not.toMatch(secret)
  },
)

test.each([
  ['in full', { agent: 'svc.registry', header: 'x-api-key', value: 'very-secret' }],
  ['wrongly', { agent: 'svc.registry', value: 'very-secret', more: true }],
])('a secret that is returned %s is stored by neither a playground nor a task', async (_, params) => {
  const { json } = await home.request('POST', '/api/playground/session', { token })
  for (const who of [{ token }, {}]) {
    const body = { agent: 'svc.registry', capability: 'set_credential', input: params }
    const answer = await home.request('POST', `/api/playground/session/${json.id}/execute`, { ...who, body })
    expect(answer.status).toBeGreaterThanOrEqual(400)
  }
  await send('set_credential', params, { returnImmediately: true })
  expect(JSON.stringify(await storedRows())).not.toContain('very-secret')
})
