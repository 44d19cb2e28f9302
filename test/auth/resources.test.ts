import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import type { ResourcePath } from '../../schemas/scope.ts'
import { mintToken } from '../../src/auth/issuer.ts'
import { resourceAt } from '../../src/auth/resources.ts'
import { everyScope, signerOf, startGateway } from '../support/gateway.ts'
import { openSocket, Refused } from '../support/socket.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

/** A token as sign-in makes it: of a client that is not the subject. */
async function tokenFor(audience: readonly string[], client_id = 'client', at = home): Promise<string> {
  const { key, issuer } = await signerOf(at)
  const grant = { subject: 'ada', client_id, scopes: everyScope, namespaces: [], ttl_s: 600, audience }
  return await mintToken(key, issuer, grant, Date.now)
}

const mcpCall = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const listTasks = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }

/** One row a path of every transport: the method, or the subprotocol of a socket, and the resource that answers. */
const places: readonly (readonly [string, string, unknown, ResourcePath])[] = [
  ['GET', '/api/agents', undefined, ''],
  ['POST', '/api/agents/publish', {}, ''],
  ['GET', '/public/agents', undefined, ''],
  ['POST', '/rpc', { jsonrpc: '2.0', id: 1, method: 'svc.registry.list_keys' }, ''],
  ['jsonrpc', '/rpc', undefined, ''],
  ['POST', '/v0.1/publish', {}, ''],
  ['POST', '/v0.1/validate', {}, ''],
  ['POST', '/ard/search', { query: { text: 'x' } }, ''],
  ['POST', '/a2a/message', { to: 'svc.registry', action: 'list_keys' }, '/a2a'],
  ['POST', '/a2a/message', { to: 'svc.registry', action: 'changes' }, '/a2a'],
  ['envelope', '/a2a/message', undefined, '/a2a'],
  ['POST', '/a2a/discover', { query: 'x' }, '/a2a'],
  ['POST', '/a2a/v1', listTasks, '/a2a'],
  ['GET', '/a2a/v1/tasks', undefined, '/a2a'],
  ['POST', '/a2a/utility/wiki', {}, '/a2a'],
  ['POST', '/mcp', mcpCall, '/mcp'],
  ['mcp', '/mcp/ws', undefined, '/mcp'],
  ['POST', '/mcp/agents/svc.registry', mcpCall, '/mcp'],
]

async function statusAt(method: string, path: string, body: unknown, token: string): Promise<number> {
  if (method === method.toUpperCase()) {
    const headers = { Accept: 'application/json, text/event-stream' }
    return (await home.request(method, path, { body, token, headers })).status
  }
  try {
    const { socket } = await openSocket(`${home.url}${path}`, [method, `bearer.${token}`])
    socket.close()
    return 101
  } catch (fault) {
    if (fault instanceof Refused) return fault.status
    throw fault
  }
}

describe('a token', () => {
  test.each(places)(
    'is accepted by %s %s only if it names that resource',
    async (method, path, body, own) => {
      const named = (paths: readonly string[]) => tokenFor(paths.map((each) => home.url + each))
      const accepted = {
        '/': await named(['']),
        '/ with a slash': await named(['/']),
        '/mcp': await named(['/mcp']),
        '/a2a': await named(['/a2a']),
        '/ and /mcp': await named(['', '/mcp']),
        'all three': await named(['', '/mcp', '/a2a']),
        'the ring': await tokenFor([home.gateway.identity.ring.name]),
        'the command line': await home.token('ada'),
        'the command line, once': await tokenFor([home.url], 'ada'),
      }
      const refused = Object.fromEntries(
        await Promise.all(
          Object.entries(accepted).map(async ([name, token]) => {
            return [name, (await statusAt(method, path, body, token)) === 401] as const
          }),
        ),
      )
      expect(refused).toEqual({
        '/': own !== '',
        '/ with a slash': own !== '',
        '/mcp': own !== '/mcp',
        '/a2a': own !== '/a2a',
        '/ and /mcp': own === '/a2a',
        'all three': false,
        'the ring': false,
        'the command line': false,
        'the command line, once': false,
      })
    },
  )

  test('for another resource is refused with a challenge that names the metadata of this one', async () => {
    const token = await tokenFor([home.url])
    const answer = await home.request('POST', '/mcp', { token, body: mcpCall })
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="dragoman", error="invalid_token", error_description="The token was issued for another resource.", resource_metadata="${home.url}/.well-known/oauth-protected-resource/mcp"`,
    )
  })

  test.each([
    ['a whole URL', (path: string) => home.url + path],
    ['a whole URL of another scheme', (path: string) => `ws://x${path}`],
    ['a query', (path: string) => `${path}?a=/api`],
    ['a fragment', (path: string) => `${path}#/api`],
    ['a slash at the end', (path: string) => `${path}/`],
    ['two slashes', (path: string) => `/${path}`],
    ['an escape', (path: string) => path.replace('m', '%6d')],
    ['dots', (path: string) => `/api/..${path}`],
  ])('of REST is not accepted at MCP when the request target has %s', async (_, target) => {
    const token = await tokenFor([home.url])
    const request = httpRequest(home.url, {
      method: 'POST',
      path: target('/mcp'),
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    })
    request.end(JSON.stringify(mcpCall))
    const [answer] = await once(request, 'response')
    answer.resume()
    expect([400, 401, 404]).toContain(answer.statusCode)
  })

  test('for MCP alone creates no API key, which would be valid everywhere', async () => {
    const token = await tokenFor([`${home.url}/mcp`])
    const { authenticate, createKey } = home.gateway.identity
    await expect(createKey({ ttl_s: 60 }, await authenticate(token))).rejects.toMatchObject({
      code: 'forbidden',
    })
  })
})

test('an audience names no resource by what each object of JavaScript has', async () => {
  const token = await tokenFor(['/mcp', 'constructor', 'toString'].map((path) => home.url + path))
  expect((await home.request('POST', '/mcp', { token, body: mcpCall })).status).not.toBe(401)
  expect((await home.request('GET', '/api/keys', { token })).status).toBe(401)
})

test('a path that only begins like a resource is part of the base URL', () => {
  expect(['/mcpx', '/mcp-x', '/a2ab', '/api/mcp', undefined].map(resourceAt)).toEqual(Array(5).fill(''))
})
