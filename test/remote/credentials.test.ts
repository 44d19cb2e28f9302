import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createVault } from '../../src/auth/vault.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const secret = 'Bearer s3cret-of-ada-9d1f'
const to = 'com.example.locked'

let clock = 1_800_000_000_000
const logged: string[] = []

const agent = await serveEnvelopes()
const other = await serveEnvelopes()
const log = createLogger('trace', { write: (line: string) => void logged.push(line) })
const origins = `${agent.origin},${other.origin}`
const gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origins }, { log, clock: () => clock })
await list(gateway, { package_name: to, endpoints: [{ protocol: 'envelope', url: agent.url }] })
await list(gateway, {
  package_name: 'com.example.other',
  endpoints: [{ protocol: 'envelope', url: other.url }],
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await agent[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

async function send(who: string, name = to): Promise<string | undefined> {
  const token = await gateway.token(who)
  const body = { to: name, action: 'anything', params: {} }
  const answer = await gateway.request('POST', '/a2a/message', { body, token })
  expect(answer.status, answer.text).toBe(200)
  return (name === to ? agent : other).received.at(-1)?.headers.authorization
}

async function store(who: string, value = secret, name = to) {
  const token = await gateway.token(who)
  return await gateway.request('PUT', `/api/agents/${name}/credential`, { body: { value }, token })
}

test('a credential is sent to its agent when its owner calls, and never otherwise', async () => {
  const stored = await store('ada')
  expect(stored).toMatchObject({
    status: 200,
    json: { agent: to, header: 'authorization', origin: agent.origin },
  })
  expect(stored.text).not.toContain('s3cret')
  expect(await send('ada')).toBe(secret)
  expect(await send('eve')).toBeUndefined()
  expect(await send('ada', 'com.example.other')).toBeUndefined()
})

test('it is listed without its value, and not listed after it is deleted', async () => {
  await store('bob')
  const token = await gateway.token('bob')
  const listed = await gateway.request('GET', '/api/credentials', { token })
  expect(listed.json.credentials).toMatchObject([{ agent: to, origin: agent.origin }])
  expect(listed.text).not.toContain('s3cret')
  expect(await send('bob')).toBe(secret)
  expect((await gateway.request('DELETE', `/api/agents/${to}/credential`, { token })).status).toBe(204)
  expect(await send('bob')).toBeUndefined()
  expect(await gateway.request('DELETE', `/api/agents/${to}/credential`, { token })).toMatchObject({
    status: 404,
    json: { code: 'not_found' },
  })
})

test('it is not sent to another address of its agent', async () => {
  const owner = await gateway.token('owner')
  const relocated = 'com.example.moving'
  const id = await list(gateway, {
    package_name: relocated,
    endpoints: [{ protocol: 'envelope', url: agent.url }],
  })
  await store('ada', secret, relocated)
  const endpoints = [{ protocol: 'envelope', url: other.url }]
  await gateway.request('PUT', `/api/agents/${id}`, { body: { endpoints }, token: owner })
  const before = other.received.length
  await send('ada', relocated).catch(() => {})
  expect(other.received.length).toBe(before + 1)
  expect(JSON.stringify(other.received.at(-1))).not.toContain('s3cret')
})

test('it appears in no log and in no file of the data folder', () => {
  expect(logged.join('')).not.toContain('s3cret')
  for (const name of readdirSync(gateway.data, { recursive: true, encoding: 'utf8' })) {
    const path = join(gateway.data, name)
    if (statSync(path).isFile()) expect(readFileSync(path, 'latin1'), name).not.toContain('s3cret')
  }
  expect(statSync(join(gateway.data, 'keys', 'secret')).mode & 0o777).toBe(0o600)
})

test.each([
  ['a header field of the connection', { header: 'Content-Length', value: '1' }],
  ['a header field of ours', { header: 'dragoman-assertion', value: '1' }],
  ['what would break the header', { value: 'a\r\nx: y' }],
  ['nothing', { value: '' }],
])('%s is not a valid credential', async (_, body) => {
  const token = await gateway.token('ada')
  const answer = await gateway.request('PUT', `/api/agents/${to}/credential`, { body, token })
  expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
})

test('a sealed secret opens only for its context and its key', () => {
  const vault = createVault(Buffer.alloc(32, 1))
  const sealed = vault.seal('hello', 'here')
  expect(vault.open(sealed, 'here')).toBe('hello')
  expect(vault.open(sealed, 'there')).toBeUndefined()
  expect(vault.open(`${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`, 'here')).toBeUndefined()
  expect(vault.open('', 'here')).toBeUndefined()
  expect(createVault(Buffer.alloc(32, 2)).open(sealed, 'here')).toBeUndefined()
  expect(vault.seal('hello', 'here')).not.toBe(sealed)
})

test('a credential that another process deleted is sent for at most two seconds more', async () => {
  await store('zoe')
  expect(await send('zoe')).toBe(secret)
  const entry = (await gateway.request('GET', `/public/agents/${to}`)).json
  const rows = await gateway.gateway.store.credentials.list(JSON.stringify(['urn:dragoman:local', 'zoe']))
  await gateway.gateway.store.credentials.remove(rows[0]?.owner ?? '', entry.id)
  clock += 2_000
  expect(await send('zoe')).toBeUndefined()
})

test('a store that is away fails the calls of callers, and not the gateway', async () => {
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
  await list(home, { package_name: to, endpoints: [{ protocol: 'envelope', url: agent.url }] })
  const token = await home.token('ada')
  const { credentials, settings } = home.gateway.store
  const away = new Failure('unavailable', 'The store is away.')
  Object.assign(credentials, { find: () => Promise.reject(away) })
  Object.assign(settings, { settle: () => Promise.reject(away) })
  const body = { to, action: 'anything', params: {} }
  // Node ends a process for a rejection that nobody handles; the runner of tests reports it.
  const answer = await home.request('POST', '/a2a/message', { body, token })
  expect(answer.json).toMatchObject({ code: 'unavailable', detail: 'The store is away.' })
})
