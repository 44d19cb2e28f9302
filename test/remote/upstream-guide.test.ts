import { hash } from 'node:crypto'
import { afterAll, expect, test } from 'vitest'
import type { Records } from '../../src/auth/authorization-server/records.ts'
import {
  callbackOf,
  clientDocument,
  createClients,
  readUpstreamClients,
} from '../../src/auth/upstream-sign-in/clients.ts'
import { run } from '../support/command.ts'
import { blocksOf, guideOf } from '../support/documents.ts'
import { mailAgent, startSignInHome } from '../support/upstream-sign-in.ts'

const guide = guideOf('upstream-sign-in.md')
const scripts = blocksOf(guide, 'sh')

const home = await startSignInHome()
afterAll(() => home[Symbol.asyncDispose]())

test('docs/upstream-sign-in.md: the error has the members that it shows', async () => {
  const shown = JSON.parse(blocksOf(guide, 'json')[0] ?? '{}')
  const { json } = await home.call('ada')
  expect(Object.keys(json)).toEqual(expect.arrayContaining(Object.keys(shown)))
  expect(json).toMatchObject({ status: shown.status, code: shown.code })
  expect(json.detail.replace(/ at .*/, '')).toBe(shown.detail.replace(/ at .*/, ''))
})

test('docs/upstream-sign-in.md: the commands connect, list and forget', async () => {
  const script = scripts.find((code) => code.includes('credentials connect')) ?? ''
  const lines = script
    .trim()
    .split('\n')
    .map((line) => line.replace(/^dragoman /, '').split(' '))
  expect(lines.map(([, verb]) => verb)).toEqual(['connect', 'list', 'forget'])
  const settings = { DRAGOMAN_URL: home.gateway.url, DRAGOMAN_TOKEN: await home.gateway.token('bob') }
  const connect = await run(lines[0] ?? [], settings)
  expect(connect.code, connect.stderr).toBe(0)
  const [words = '', address = ''] = connect.stdout.trim().split('\n')
  expect(words).toContain(home.upstream.issuer)
  expect((await home.signIn(address)).text).toContain('is connected')
  expect(await home.call('bob')).toMatchObject({ status: 200 })
  const { token } = home.server.calls.at(-1) ?? { token: '' }
  const listed = await run([...(lines[1] ?? []), '--json'], settings)
  expect(JSON.parse(listed.stdout).credentials).toMatchObject([{ agent: mailAgent, kind: 'sign_in' }])
  expect(listed.stdout).not.toContain(token)
  expect((await run(lines[1] ?? [], settings)).stdout).toContain(
    `${mailAgent} sign_in at ${home.upstream.issuer}`,
  )
  expect(await run(lines[2] ?? [], settings)).toMatchObject({ code: 0, stdout: `forgot ${mailAgent}\n` })
  expect(await home.call('bob')).toMatchObject({ status: 409 })
})

test('docs/upstream-sign-in.md: the setting is read, and the key of an issuer is the one of its address', async () => {
  const setting = /DRAGOMAN_UPSTREAM_CLIENTS='(.*)'/.exec(scripts.join('\n'))?.[1]
  const [client] = await readUpstreamClients(setting)
  expect(client).toMatchObject({ issuer: 'https://auth.example.com', client_id: 'dragoman' })
  const line = /node -p "crypto\.hash\('sha256', '(.*)', 'base64url'\)\.slice\(0, 22\)"/.exec(guide)
  const key = hash('sha256', line?.[1] ?? '', 'base64url').slice(0, 22)
  expect(callbackOf('https://agents.example.org', client?.issuer ?? '')).toContain(`/callback/${key}`)
})

test.each([
  ['no list', '{}'],
  ['no issuer', '[{"client_id": "x"}]'],
  ['an issuer without https', '[{"issuer": "http://auth.example.com", "client_id": "x"}]'],
  ['an unknown field', '[{"issuer": "https://auth.example.com", "client_id": "x", "secret": "y"}]'],
  [
    'a path among the origins',
    '[{"issuer": "https://a.example", "client_id": "x", "origins": ["https://b.example/mcp"]}]',
  ],
  ['no JSON', '[{'],
])('a setting with %s is refused by its name', async (_, setting) => {
  await expect(readUpstreamClients(setting)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('DRAGOMAN_UPSTREAM_CLIENTS is invalid.'),
  })
})

test('an agent that asks for no sign-in, or is unknown, gets no address', async () => {
  const token = await home.gateway.token('carol')
  const connect = (agent: string) =>
    home.gateway.request('POST', `/api/agents/${agent}/connect`, { body: {}, token })
  expect(await connect('svc.registry')).toMatchObject({ status: 409 })
  expect(await connect('com.example.nobody')).toMatchObject({ status: 404 })
  const found = await connect(mailAgent)
  expect(found, found.text).toMatchObject({
    status: 200,
    json: { agent: mailAgent, issuer: home.upstream.issuer, scopes: expect.arrayContaining(['read']) },
  })
})

const server = {
  issuer: 'https://auth.example.com',
  authorization_endpoint: 'https://auth.example.com/authorize',
  token_endpoint: 'https://auth.example.com/token',
  client_id_metadata_document_supported: true,
}
const clientsAt = (base_url: string, operator: Parameters<typeof createClients>[0]['operator'] = []) =>
  createClients({
    fetch: () => Promise.reject(new Error('Nothing is registered here.')),
    records: { find: async () => undefined } as unknown as Records,
    operator,
    base_url: () => base_url,
    clock: Date.now,
  })
const { signal } = new AbortController()
const called = 'https://mcp.example.com/mcp'

test('the client is that of the operator, else a metadata document at a public address', async () => {
  const own = { issuer: server.issuer, client_id: 'dragoman', client_secret: 'SECRET' }
  const at = 'https://agents.example.org'
  expect(await clientsAt(at, [own]).of(server, called, signal)).toEqual({
    client_id: 'dragoman',
    client_secret: 'SECRET',
  })
  const { client_id } = await clientsAt(at).of(server, called, signal)
  const key = client_id.split('/').at(-1) ?? ''
  expect(clientDocument(at, key)).toMatchObject({
    client_id,
    redirect_uris: [callbackOf(at, server.issuer)],
    token_endpoint_auth_method: 'none',
  })
  await expect(clientsAt('http://127.0.0.1:8080').of(server, called, signal)).rejects.toThrow(
    'DRAGOMAN_UPSTREAM_CLIENTS',
  )
})

test("the operator's client is for agents of the site of its issuer, or at its origins: any agent can name the issuer", async () => {
  const { client_id_metadata_document_supported: _, ...closed } = server
  const own = { issuer: server.issuer, client_id: 'dragoman', client_secret: 'SECRET' }
  const clientFor = (url: string, origins?: string[]) => {
    const clients = clientsAt('https://agents.example.org', [{ ...own, ...(origins && { origins }) }])
    return clients.of(closed, url, signal)
  }
  const used = { client_id: 'dragoman' }
  expect(await clientFor('wss://example.com/mcp')).toMatchObject(used)
  expect(await clientFor('https://tools.example.net/mcp', ['https://tools.example.net'])).toMatchObject(used)
  const refusal = 'has to name https://evil.example among its origins in DRAGOMAN_UPSTREAM_CLIENTS'
  await expect(clientFor('https://evil.example/auth.example.com')).rejects.toThrow(refusal)
  await expect(clientFor('https://evil.example/', ['https://tools.example.net'])).rejects.toThrow(refusal)
  await expect(clientFor(called, ['https://tools.example.net'])).rejects.toThrow('among its origins')
  await expect(clientFor('https://evil-example.com/mcp')).rejects.toThrow('among its origins')
})

test('the gateway serves its metadata document for each issuer', async () => {
  const key = 'A'.repeat(22)
  const { status, json } = await home.gateway.request('GET', `/connections/client/${key}`)
  expect(status).toBe(200)
  expect(json).toEqual(clientDocument(home.gateway.url, key))
})
