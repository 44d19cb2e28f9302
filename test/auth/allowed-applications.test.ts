import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { changeSignedIn, signedInPath } from '../../src/app/signed-in.ts'
import { requestDevice } from '../../src/cli/sign-in/device.ts'
import { serve } from '../net/support.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'
import { instantLogin, refresh, register, tokensFor } from '../support/sign-in.ts'

const home = await startGateway({ DRAGOMAN_RATE_LIMIT: 'off' }, { logins: [instantLogin()] })
const client = await register(home)
afterAll(() => home[Symbol.asyncDispose]())

const tokensWith = (scope: string) => tokensFor(home, client, { scope, resource: home.url })

describe('an application that a person allowed', () => {
  test('creates no API key, which would outlive the permission', async () => {
    const { access_token: token } = await tokensWith('agents:read agents:write')
    const { status, json } = await home.request('POST', '/api/keys', { token, body: {} })
    expect([status, json.code]).toEqual([403, 'forbidden'])
  })

  test.each([
    ['GET', '/api/personal-data', undefined],
    ['POST', '/api/personal-data/delete', { confirm: true }],
    ['DELETE', '/api/keys/drg_00000000', undefined],
  ] as const)(
    'copies and deletes nothing of its person by %s %s without the scope for changes',
    async (method, path, body) => {
      const { access_token: token } = await tokensWith('agents:read')
      const { status, json } = await home.request(method, path, { token, body })
      expect([status, json]).toMatchObject([403, { code: 'forbidden', scope: 'agents:write' }])
    },
  )

  test('revokes nothing but its own token without that scope', async () => {
    const { access_token: token } = await tokensWith('agents:read')
    const revoke = (params: object) =>
      home.request('POST', '/rpc', {
        token,
        body: { jsonrpc: '2.0', id: 1, method: 'registry.revoke', params },
      })
    const all = await revoke({ subject: 'ada' })
    expect(all.json.error.data.code).toBe('forbidden')
    const { credential } = await home.gateway.authenticate(token)
    expect((await revoke({ jti: credential?.jti })).json.result).toEqual({ revoked: 'jti' })
  })

  test('is renewed no more when everything of its person is revoked', async () => {
    const { refresh_token, access_token } = await tokensWith('agents:read')
    expect((await refresh(home, client, refresh_token)).status).toBe(200)
    const again = await tokensWith('agents:read')
    const token = await home.token('root', { scopes: ['admin'] })
    const params = { subject: 'ada', issuer: 'https://login.example' }
    const body = { jsonrpc: '2.0', id: 1, method: 'registry.revoke', params }
    expect((await home.request('POST', '/rpc', { token, body })).json.result).toEqual({ revoked: 'subject' })
    expect((await refresh(home, client, again.refresh_token)).status).toBe(400)
    expect((await home.request('GET', '/api/usage', { token: access_token })).status).toBe(401)
  })

  test.each(['Dragoman command line', 'DRAGOMAN  command line '])(
    'may not take the name of our own client: %s',
    async (client_name) => {
      await expect(register(home, { client_name })).rejects.toThrow('that of a client of this gateway')
    },
  )

  test('may have the name of this server in its own, as hosts do', async () => {
    expect((await register(home, { client_name: 'Claude Code (dragoman)' })).id).toEqual(expect.any(String))
  })

  test('is registered although there are too many that nobody uses', async () => {
    using database = new DatabaseSync(join(home.data, 'registry.sqlite'))
    const columns = 'id, kind, document, expires_at'
    const insert = database.prepare(`insert into sign_in (${columns}) values (?, 'Client', '{}', ?)`)
    database.exec('begin immediate')
    for (let number = 0; number < 20_000; number++) insert.run(`old-${number}`, Date.now() + 3_600_000)
    database.exec('commit')
    expect((await register(home)).id).toEqual(expect.any(String))
    expect(await home.gateway.store.signIn.count('Client', Date.now())).toBeLessThan(100)
  })
})

describe('the command line', () => {
  test.each([
    'file:///etc/passwd',
    'https://elsewhere.example/device',
    'smb://elsewhere.example/x',
    'ISSUER/device?x=y&calc.exe',
    '--help',
  ])('opens no page for a sign-in but one of the gateway: %s', async (address) => {
    await using server = await serve((_, response) => {
      const verification_uri = address.replace('ISSUER', issuer)
      const device = { device_code: 'x', user_code: 'Y', verification_uri, expires_in: 60 }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(device))
    })
    const issuer = server.origin
    const metadata = { issuer, device_authorization_endpoint: `${issuer}/code` }
    const requested = requestDevice({ server: metadata, resource: `${issuer}/a2a` })
    if (address.startsWith('ISSUER')) expect((await requested).verification_uri).toContain(issuer)
    else await expect(requested).rejects.toMatchObject({ code: 'upstream_invalid' })
  })

  test('sends a token of the environment to no gateway that the environment does not name', async () => {
    await using folder = await temporaryFolder()
    const session = { issuer: home.url, resource: '', access_token: 'x', expires_at: 0 }
    const signedIn = { current: home.url, gateways: { [home.url]: session } }
    await changeSignedIn(signedInPath({ config: folder.path }), async () => [signedIn, undefined])
    const environment = { HOME: folder.path, XDG_CONFIG_HOME: folder.path }
    expect(readConfig(environment).DRAGOMAN_URL).toBe(home.url)
    expect(readConfig({ ...environment, DRAGOMAN_TOKEN: 'mine' }).DRAGOMAN_URL).toBeUndefined()
  })
})
