import {
  auth,
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { decodeJwt } from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { openSocket, type Refused } from '../support/socket.ts'

const based = 'https://registry.example/base'
const issuers = JSON.stringify([
  { issuer: 'https://login.example', audience: 'https://registry.example', scopes: { read: 'agents:read' } },
])
const home = await startGateway({ DRAGOMAN_ISSUERS: issuers })
const deep = await startGateway({ DRAGOMAN_BASE_URL: based })
afterAll(() => deep[Symbol.asyncDispose]())
afterAll(() => home[Symbol.asyncDispose]())

const resources = ['', '/mcp', '/a2a']

describe('metadata', () => {
  test.each(resources)('of the resource "%s" names it and its authorization servers', async (path) => {
    const answer = await home.request('GET', `/.well-known/oauth-protected-resource${path}`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.json).toMatchObject({
      resource: `${home.url}${path}`,
      authorization_servers: [home.url, 'https://login.example'],
      bearer_methods_supported: ['header'],
    })
    const server = await home.request('GET', `/.well-known/oauth-authorization-server${path}`)
    expect(server.headers.get('access-control-allow-origin')).toBe('*')
    expect(server.json).toMatchObject({
      issuer: home.url,
      token_endpoint: `${home.url}/oauth/token`,
      revocation_endpoint: `${home.url}/oauth/revoke`,
      jwks_uri: `${home.url}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
      authorization_response_iss_parameter_supported: true,
    })
    expect(server.json).not.toHaveProperty('client_id_metadata_document_supported')
    expect(server.json.scopes_supported).toEqual(expect.arrayContaining(answer.json.scopes_supported))
    expect(answer.json.scopes_supported).not.toContain('admin')
  })

  test('asks the user of an MCP host only for what a model may do', async () => {
    const scopesOf = async (path: string) =>
      (await home.request('GET', `/.well-known/oauth-protected-resource${path}`)).json.scopes_supported
    expect(await scopesOf('/mcp')).toEqual(['agents:read', 'a2a:call'])
    for (const path of ['', '/a2a']) expect(await scopesOf(path)).toContain('agents:write')
  })

  test.each(resources)('of "%s" under a base URL with a path is under both names', async (path) => {
    for (const suffix of [path, `/base${path}`]) {
      const answer = await deep.request('GET', `/.well-known/oauth-protected-resource${suffix}`)
      expect(answer.json.resource).toBe(`${based}${path}`)
      const server = await deep.request('GET', `/.well-known/oauth-authorization-server${suffix}`)
      expect(server.json.issuer).toBe(based)
    }
  })

  test.each(['/mcp', '/m', '/a2a'])('is told apart under a base URL whose path is %s', async (prefix) => {
    const base = `https://registry.example${prefix}`
    await using odd = await startGateway({ DRAGOMAN_BASE_URL: base })
    for (const path of resources) {
      const answer = await odd.request('GET', `/.well-known/oauth-protected-resource${prefix}${path}`)
      expect(answer.json.resource).toBe(`${base}${path}`)
    }
    const plain = await odd.request('GET', '/.well-known/oauth-protected-resource')
    expect(plain.json.resource).toBe(base)
    expect((await odd.request('GET', '/.well-known/oauth-protected-resource/cp')).status).toBe(404)
  })

  test('of another path does not exist', async () => {
    for (const path of ['/nothing', '/mcp/ws', '/rpc', '/a2a/v1']) {
      expect((await home.request('GET', `/.well-known/oauth-protected-resource${path}`)).status).toBe(404)
    }
  })

  test('lets a page of any origin ask first', async () => {
    const answer = await home.request('OPTIONS', '/.well-known/oauth-protected-resource/mcp')
    expect([answer.status, answer.headers.get('access-control-allow-methods')]).toEqual([
      204,
      'GET, HEAD, OPTIONS',
    ])
  })
})

test('leads a stock MCP client from the server to a token of its own', async () => {
  const token = await home.token('ada')
  const { id, key } = (await home.request('POST', '/api/keys', { token })).json
  const provider = new ClientCredentialsProvider({
    clientId: id,
    clientSecret: key,
    expectedIssuer: home.url,
  })
  expect(await auth(provider, { serverUrl: `${home.url}/mcp` })).toBe('AUTHORIZED')
  const access_token = provider.tokens()?.access_token ?? ''
  expect(decodeJwt(access_token)).toMatchObject({ sub: 'ada', client_id: id, aud: `${home.url}/mcp` })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`), { authProvider: provider }),
  )
  const called = await client.callTool({
    name: 'call_agent',
    arguments: { package_name: 'svc.registry', action: 'list_keys', params: {} },
  })
  await client.close()
  expect(called.structuredContent).toMatchObject({ keys: [{ id, subject: 'ada' }] })
})

describe('a challenge', () => {
  const mcpCall = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  test.each([
    ['POST', '/a2a/discover', { query: 'x' }, '/a2a'],
    ['POST', '/a2a/message', { to: 'svc.registry', action: 'list_keys' }, '/a2a'],
    ['POST', '/mcp', mcpCall, '/mcp'],
    ['POST', '/rpc', mcpCall, ''],
    ['POST', '/a2a/v1', mcpCall, '/a2a'],
    ['POST', '/a2a/v1/message:send', {}, '/a2a'],
    ['POST', '/a2a/v1/svc.utility.wiki/message:send', {}, '/a2a'],
  ])('of %s %s names its metadata, which is there', async (method, path, body, resource) => {
    const bad = (await home.request(method, path, { body, token: 'bad' })).headers.get('www-authenticate')
    expect(bad).toMatch(/^Bearer realm="dragoman", error="invalid_token", error_description="[^"]+"/)
    const at = /resource_metadata="([^"]+)"/.exec(bad ?? '')?.[1] ?? ''
    expect(at).toBe(`${home.url}/.well-known/oauth-protected-resource${resource}`)
    expect(await (await fetch(at)).json()).toMatchObject({ resource: `${home.url}${resource}` })
  })

  test('without credentials has no error, and names the required scope', async () => {
    const { headers } = await home.request('POST', '/a2a/discover', { body: { query: 'x' } })
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="dragoman", scope="agents:read", resource_metadata="${home.url}/.well-known/oauth-protected-resource/a2a"`,
    )
  })

  test('with a token that lacks a scope names it', async () => {
    const token = await home.token('nobody', { scopes: [] })
    const { headers } = await home.request('POST', '/a2a/discover', { token, body: { query: 'x' } })
    expect(headers.get('www-authenticate')).toBe(
      `Bearer realm="dragoman", error="insufficient_scope", scope="agents:read", resource_metadata="${home.url}/.well-known/oauth-protected-resource/a2a"`,
    )
  })

  test.each([
    ['/rpc', 'jsonrpc', ''],
    ['/mcp/ws', 'mcp', '/mcp'],
  ])('of a refused upgrade of %s names its metadata', async (path, protocol, resource) => {
    const refused = await openSocket(`${home.url}${path}`, [protocol, 'bearer.bad']).catch(
      (fault) => fault as Refused,
    )
    expect(String((refused as Refused).headers['www-authenticate'])).toMatch(
      new RegExp(
        `error="invalid_token".*resource_metadata="${home.url}/.well-known/oauth-protected-resource${resource}"$`,
      ),
    )
  })

  test('names the base URL with its path, if it is set', async () => {
    const { headers } = await deep.request('POST', '/mcp', { token: 'bad', body: mcpCall })
    expect(headers.get('www-authenticate')).toContain(
      'resource_metadata="https://registry.example/.well-known/oauth-protected-resource/base/mcp"',
    )
  })
})
