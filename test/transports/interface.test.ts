import { dirname } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { JsonSchema } from '../../schemas/json.ts'
import type { Route } from '../../src/transports/http/route.ts'
import { routes } from '../../src/transports/http/routes.ts'
import { guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { publication } from './cases.ts'

const home = await startGateway({ DRAGOMAN_CONTACT: '' })
const good = await home.token('walker', { namespaces: ['com.walk'] })
const made = await home.request('POST', '/api/playground/session')
const session = made.json.id
const key = (await home.request('POST', '/api/keys', { token: good })).json.id
afterAll(() => home[Symbol.asyncDispose]())

/** The status without a token, and with a good one. A bad one is 401 everywhere. */
type Step = readonly [request: string, open: number, signed: number, body?: unknown]

const live = '/api/agents/com.walk.agent'

/** Every path of the interface, section 4, and those of API keys, in an order in which each can succeed. */
const steps: readonly Step[] = [
  ['GET /public/agents?q=wiki&target=developer', 200, 200],
  ['GET /public/agents/svc.utility.wiki', 200, 200],
  ['GET /public/suggest?q=wiki', 200, 200],
  ['GET /public/status', 200, 200],
  ['POST /a2a/discover', 401, 200, { query: 'wiki', limit: 3, filters: { tags: ['test'] } }],
  ['POST /a2a/utility/wiki', 401, 503, { input: { query: 'Dragoman' } }],
  ['POST /a2a/utility/finance', 401, 400, { input: { symbol: '..' } }],
  ['POST /a2a/utility/reader', 401, 403, { input: { url: 'http://127.0.0.1/' } }],
  [
    'POST /a2a/message',
    200,
    200,
    { to: 'custom.svc.registry', action: 'search', params: { query: 'wiki', limit: 1 } },
  ],
  ['GET /.well-known/agent-card.json', 200, 200],
  ['GET /agents/svc.utility.wiki/.well-known/agent-card.json', 200, 200],
  ['GET /a2a/v1/.well-known/agent-card.json', 200, 200],
  ['GET /a2a/v1/svc.utility.wiki/.well-known/agent-card.json', 200, 200],
  ['GET /api/agents', 200, 200],
  ['GET /api/agents/svc.utility.finance', 200, 200],
  ['POST /api/agents/search', 200, 200, { query: 'price of bitcoin' }],
  ['POST /api/agents/publish', 401, 201, publication('com.walk.agent')],
  [`PUT ${live}`, 401, 200, { description: 'Does another thing.' }],
  [`POST ${live}/go-live`, 401, 200],
  [`POST ${live}/unpublish`, 401, 200],
  ['POST /api/agents/validate', 200, 200, { card: { name: 'A', description: 'B' } }],
  [`POST ${live}/verify`, 401, 200, { domain: 'not.its.own' }],
  [`POST ${live}/check`, 401, 200],
  [`POST ${live}/claim`, 401, 409],
  [`POST ${live}/report`, 401, 204, { reason: 'broken' }],
  [`POST ${live}/suspend`, 401, 403, { reason: 'Bad.' }],
  [`POST ${live}/deprecate`, 401, 200],
  [`GET ${live}/versions`, 404, 200],
  ['GET /public/agents/svc.utility.wiki/versions', 200, 200],
  ['GET /public/agents/svc.utility.wiki/diff?from=latest&to=latest', 200, 200],
  ['GET /public/agents/svc.utility.wiki/liveness?days=7', 200, 200],
  ['GET /public/agents/svc.utility.wiki/readme', 404, 404],
  ['GET /public/agents/svc.utility.wiki/icon', 404, 404],
  [`GET ${live}/install`, 404, 409],
  ['GET /public/agents/svc.utility.wiki/install?host=codex', 200, 200],
  [`GET ${live}/calls?days=7`, 401, 200],
  [`GET ${live}/audit`, 401, 200],
  ['GET /api/suspensions', 401, 403],
  ['GET /api/audit?action=report', 401, 403],
  [`PUT ${live}/credential`, 401, 409, { value: 'Bearer x' }],
  [`DELETE ${live}/credential`, 401, 404],
  ['GET /api/credentials', 401, 200],
  [`PUT ${live}/approval`, 401, 403, {}],
  [`DELETE ${live}/approval`, 401, 403],
  ['GET /api/approvals', 401, 403],
  [`POST ${live}/connect`, 401, 409],
  [`POST ${live}/transfer`, 401, 200, { subject: 'heir' }],
  [`POST ${live}/accept-transfer`, 401, 409],
  ['GET /api/transfers', 401, 200],
  [`DELETE ${live}`, 401, 204],
  [`POST ${live}/purge`, 401, 403, { reason: 'Bad.' }],
  ['GET /api/personal-data', 401, 200],
  ['POST /api/personal-data/delete', 401, 400, {}],
  ['POST /api/keys', 401, 201, { label: 'walk' }],
  ['GET /api/keys', 401, 200],
  [`DELETE /api/keys/${key}`, 401, 204],
  ['GET /api/usage', 401, 200],
  ['GET /api/quotas', 401, 403],
  ['PUT /api/quotas', 401, 403, {}],
  ['GET /public/changes', 200, 200],
  ['POST /api/webhooks', 401, 201, { url: 'https://example.com/hook' }],
  ['GET /api/webhooks', 401, 200],
  ['GET /api/webhooks/none', 401, 404],
  ['PUT /api/webhooks/none', 401, 404, {}],
  ['DELETE /api/webhooks/none', 401, 404],
  ['POST /api/playground/session', 201, 201],
  [`POST /api/playground/session/${session}/discover`, 200, 200, { query: 'wiki' }],
  [
    `POST /api/playground/session/${session}/execute`,
    200,
    200,
    { agent: 'svc.registry', capability: 'search', input: { query: 'wiki' } },
  ],
  [`GET /api/playground/session/${session}`, 200, 200],
  [`GET /api/playground/session/${session}/export?format=curl`, 200, 200],
  [`DELETE /api/playground/session/${session}`, 204, 404],
]

const readme = guideOf('reference/http.md')

/** Fields that a path says without a parameter: whose card it is, and in which form. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  '/.well-known/agent-card.json': ['agent', 'through'],
  '/agents/:agent/.well-known/agent-card.json': ['through'],
  '/a2a/v1/.well-known/agent-card.json': ['agent'],
}

function inputOf({ to, action }: Route): JsonSchema {
  const agent = home.gateway.agents.find(({ package_name }) => package_name === to)
  const found = agent?.actions.find(({ name }) => name === action)
  if (!found) throw new Error(`${to} has no action ${action}.`)
  return found.input.json
}

function isRequestRow(line: string): boolean {
  return /^\| `[^`]*\//.test(line) || /^\| `(?:GET|POST|PUT|DELETE)` and/.test(line)
}

/** `GET /path/:` for each request that a row of the table names, where `…` repeats the path before it or its parent. */
function requestsOf(row: string): string[] {
  const [, cell = ''] = row.split('|')
  let methods: string[] = []
  let base = ''
  let isOpen = false
  return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, text = '']) => {
    const [, method, path] = /^(?:(GET|POST|PUT|DELETE)(?: |$))?(.*)$/.exec(text) ?? []
    if (method) {
      methods = isOpen ? [...methods, method] : [method]
      isOpen = path === ''
    }
    if (!path) return []
    isOpen = false
    if (!path.startsWith('…')) base = path
    const bases = path.startsWith('…') ? [base, dirname(base)] : ['']
    const paths = bases.flatMap((start) => alternativesOf(start + path.replace(/^…/, '')))
    return paths.flatMap((each) => methods.map((name) => `${name} ${each.replace(/:\w+/g, ':')}`))
  })
}

/** `/a/{b,c}` is `/a/b` and `/a/c`. */
function alternativesOf(path: string): string[] {
  const [whole, names] = /\{([^}]*)\}/.exec(path) ?? []
  return whole && names ? names.split(',').map((name) => path.replace(whole, name)) : [path]
}

describe('the interface, path by path', () => {
  test.each(steps.map((step) => ({ step })))('$step.0', async ({ step: [request, open, signed, body] }) => {
    const [method = '', path = ''] = request.split(' ')
    const bad = await home.request(method, path, { body, token: 'bad' })
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const without = await home.request(method, path, { body })
    expect(without.status).toBe(open)
    if (open === 401) {
      expect(without.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="dragoman".*, resource_metadata="/,
      )
    }
    const withToken = await home.request(method, path, { body, token: good })
    expect(withToken.status).toBe(signed)
  })

  test('every row of the table is walked', () => {
    const patterns = routes.map(
      ({ method, path }) => new RegExp(`^${method.toUpperCase()} ${path.replace(/:\w+/g, '[^/]+')}$`),
    )
    const requests = steps.map(([request]) => request.split('?')[0] ?? '')
    const unwalked = patterns.filter((pattern) => !requests.some((request) => pattern.test(request)))
    expect(unwalked).toEqual([])
  })

  test('every field of the input of a GET row is in its path, its query or its defaults', () => {
    const unreachable = routes.flatMap((route) => {
      if (route.method !== 'get') return []
      const { parameters = {}, query = {}, defaults = {}, path } = route
      const stated = [...Object.values(parameters), ...Object.values(query), ...Object.keys(defaults)]
      const reachable = new Set([...stated.map((field) => field.split('.')[0]), ...(fixed[path] ?? [])])
      const fields = Object.keys(inputOf(route).properties ?? {})
      return fields.filter((field) => !reachable.has(field)).map((field) => `${field} of ${path}`)
    })
    expect(unreachable).toEqual([])
  })

  test('every row is in the table of paths', () => {
    const documented = new Set(readme.split('\n').filter(isRequestRow).flatMap(requestsOf))
    const missing = routes
      .map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/:\w+/g, ':')}`)
      .filter((request) => !documented.has(request))
    expect(missing).toEqual([])
  })

  test('a search answers with the fields of section 2.1, a card with those of 2.2', async () => {
    const { json } = await home.request('POST', '/a2a/message', {
      body: { to: 'custom.svc.registry', action: 'search', params: { query: 'encyclopedia', limit: 1 } },
    })
    expect(json.agents[0]).toMatchObject({
      package_name: 'svc.utility.wiki',
      tags: expect.arrayContaining(['test']),
    })
    for (const field of ['description', 'verification_level', 'manifest_url'])
      expect(json.agents[0][field]).toBeTypeOf('string')
    const manifest = await fetch(json.agents[0].manifest_url)
    expect(await manifest.json()).toMatchObject({ agent_id: 'custom.svc.utility.wiki' })
    const card = await home.request('GET', '/.well-known/agent-card.json')
    expect(card.json.agent_id).toBe('custom.svc.registry')
    expect(card.json.capabilities.map((capability: { name: string }) => capability.name)).toEqual([
      'search_agents',
      'resolve_package',
    ])
    expect(card.json.capabilities[0].input_schema.properties.limit.default).toBe(5)
    expect(card.json.capabilities[1]).not.toHaveProperty('input_schema')
  })
})
