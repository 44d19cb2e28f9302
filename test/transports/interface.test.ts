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

interface Step {
  readonly method: string
  readonly path: () => string
  readonly body?: unknown
  /** Status without a token, and with a good one. A bad one is 401 everywhere. */
  readonly open: number
  readonly signed: number
}

const at = (path: string) => () => path
const live = '/api/agents/com.walk.agent'

/** Every path of the interface, section 4, and those of API keys, in an order in which each can succeed. */
const steps: readonly Step[] = [
  { method: 'GET', path: at('/public/agents?q=wiki&target=developer'), open: 200, signed: 200 },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki'), open: 200, signed: 200 },
  { method: 'GET', path: at('/public/suggest?q=wiki'), open: 200, signed: 200 },
  { method: 'GET', path: at('/public/status'), open: 200, signed: 200 },
  {
    method: 'POST',
    path: at('/a2a/discover'),
    body: { query: 'wiki', limit: 3, filters: { tags: ['test'] } },
    open: 401,
    signed: 200,
  },
  {
    method: 'POST',
    path: at('/a2a/utility/wiki'),
    body: { input: { query: 'Dragoman' } },
    open: 401,
    signed: 503,
  },
  {
    method: 'POST',
    path: at('/a2a/utility/finance'),
    body: { input: { symbol: '..' } },
    open: 401,
    signed: 400,
  },
  {
    method: 'POST',
    path: at('/a2a/utility/reader'),
    body: { input: { url: 'http://127.0.0.1/' } },
    open: 401,
    signed: 403,
  },
  {
    method: 'POST',
    path: at('/a2a/message'),
    body: { to: 'custom.svc.registry', action: 'search', params: { query: 'wiki', limit: 1 } },
    open: 200,
    signed: 200,
  },
  { method: 'GET', path: at('/.well-known/agent-card.json'), open: 200, signed: 200 },
  { method: 'GET', path: at('/agents/svc.utility.wiki/.well-known/agent-card.json'), open: 200, signed: 200 },
  { method: 'GET', path: at('/a2a/v1/.well-known/agent-card.json'), open: 200, signed: 200 },
  { method: 'GET', path: at('/a2a/v1/svc.utility.wiki/.well-known/agent-card.json'), open: 200, signed: 200 },
  { method: 'GET', path: at('/api/agents'), open: 200, signed: 200 },
  { method: 'GET', path: at('/api/agents/svc.utility.finance'), open: 200, signed: 200 },
  {
    method: 'POST',
    path: at('/api/agents/search'),
    body: { query: 'price of bitcoin' },
    open: 200,
    signed: 200,
  },
  {
    method: 'POST',
    path: at('/api/agents/publish'),
    body: publication('com.walk.agent'),
    open: 401,
    signed: 201,
  },
  { method: 'PUT', path: at(live), body: { description: 'Does another thing.' }, open: 401, signed: 200 },
  { method: 'POST', path: at(`${live}/go-live`), open: 401, signed: 200 },
  { method: 'POST', path: at(`${live}/unpublish`), open: 401, signed: 200 },
  {
    method: 'POST',
    path: at('/api/agents/validate'),
    body: { card: { name: 'A', description: 'B' } },
    open: 200,
    signed: 200,
  },
  { method: 'POST', path: at(`${live}/verify`), body: { domain: 'not.its.own' }, open: 401, signed: 200 },
  { method: 'POST', path: at(`${live}/check`), open: 401, signed: 200 },
  { method: 'POST', path: at(`${live}/claim`), open: 401, signed: 409 },
  { method: 'POST', path: at(`${live}/report`), body: { reason: 'broken' }, open: 401, signed: 204 },
  { method: 'POST', path: at(`${live}/suspend`), body: { reason: 'Bad.' }, open: 401, signed: 403 },
  { method: 'POST', path: at(`${live}/deprecate`), open: 401, signed: 200 },
  { method: 'GET', path: at(`${live}/versions`), open: 404, signed: 200 },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki/versions'), open: 200, signed: 200 },
  {
    method: 'GET',
    path: at('/public/agents/svc.utility.wiki/diff?from=latest&to=latest'),
    open: 200,
    signed: 200,
  },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki/liveness?days=7'), open: 200, signed: 200 },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki/readme'), open: 404, signed: 404 },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki/icon'), open: 404, signed: 404 },
  { method: 'GET', path: at(`${live}/install`), open: 404, signed: 409 },
  { method: 'GET', path: at('/public/agents/svc.utility.wiki/install?host=codex'), open: 200, signed: 200 },
  { method: 'GET', path: at(`${live}/calls?days=7`), open: 401, signed: 200 },
  { method: 'GET', path: at(`${live}/audit`), open: 401, signed: 200 },
  { method: 'GET', path: at('/api/suspensions'), open: 401, signed: 403 },
  { method: 'GET', path: at('/api/audit?action=report'), open: 401, signed: 403 },
  { method: 'PUT', path: at(`${live}/credential`), body: { value: 'Bearer x' }, open: 401, signed: 409 },
  { method: 'DELETE', path: at(`${live}/credential`), open: 401, signed: 404 },
  { method: 'GET', path: at('/api/credentials'), open: 401, signed: 200 },
  { method: 'PUT', path: at(`${live}/approval`), body: {}, open: 401, signed: 403 },
  { method: 'DELETE', path: at(`${live}/approval`), open: 401, signed: 403 },
  { method: 'GET', path: at('/api/approvals'), open: 401, signed: 403 },
  { method: 'POST', path: at(`${live}/connect`), open: 401, signed: 409 },
  { method: 'POST', path: at(`${live}/transfer`), body: { subject: 'heir' }, open: 401, signed: 200 },
  { method: 'POST', path: at(`${live}/accept-transfer`), open: 401, signed: 409 },
  { method: 'GET', path: at('/api/transfers'), open: 401, signed: 200 },
  { method: 'DELETE', path: at(live), open: 401, signed: 204 },
  { method: 'POST', path: at(`${live}/purge`), body: { reason: 'Bad.' }, open: 401, signed: 403 },
  { method: 'GET', path: at('/api/personal-data'), open: 401, signed: 200 },
  { method: 'POST', path: at('/api/personal-data/delete'), body: {}, open: 401, signed: 400 },
  { method: 'POST', path: at('/api/keys'), body: { label: 'walk' }, open: 401, signed: 201 },
  { method: 'GET', path: at('/api/keys'), open: 401, signed: 200 },
  { method: 'DELETE', path: () => `/api/keys/${key}`, open: 401, signed: 204 },
  { method: 'GET', path: at('/api/usage'), open: 401, signed: 200 },
  { method: 'GET', path: at('/api/quotas'), open: 401, signed: 403 },
  { method: 'PUT', path: at('/api/quotas'), body: {}, open: 401, signed: 403 },
  { method: 'GET', path: at('/public/changes'), open: 200, signed: 200 },
  {
    method: 'POST',
    path: at('/api/webhooks'),
    body: { url: 'https://example.com/hook' },
    open: 401,
    signed: 201,
  },
  { method: 'GET', path: at('/api/webhooks'), open: 401, signed: 200 },
  { method: 'GET', path: at('/api/webhooks/none'), open: 401, signed: 404 },
  { method: 'PUT', path: at('/api/webhooks/none'), body: {}, open: 401, signed: 404 },
  { method: 'DELETE', path: at('/api/webhooks/none'), open: 401, signed: 404 },
  { method: 'POST', path: at('/api/playground/session'), open: 201, signed: 201 },
  {
    method: 'POST',
    path: () => `/api/playground/session/${session}/discover`,
    body: { query: 'wiki' },
    open: 200,
    signed: 200,
  },
  {
    method: 'POST',
    path: () => `/api/playground/session/${session}/execute`,
    body: { agent: 'svc.registry', capability: 'search', input: { query: 'wiki' } },
    open: 200,
    signed: 200,
  },
  { method: 'GET', path: () => `/api/playground/session/${session}`, open: 200, signed: 200 },
  {
    method: 'GET',
    path: () => `/api/playground/session/${session}/export?format=curl`,
    open: 200,
    signed: 200,
  },
  { method: 'DELETE', path: () => `/api/playground/session/${session}`, open: 204, signed: 404 },
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
  test.each(
    steps.map((step) => [`${step.method} ${step.path().replace('undefined', ':id')}`, step] as const),
  )('%s', async (_, { method, path, body, open, signed }) => {
    const options = { ...(body !== undefined && { body }) }
    const bad = await home.request(method, path(), { ...options, token: 'bad' })
    expect(bad.status).toBe(401)
    expect(bad.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const without = await home.request(method, path(), options)
    expect(without.status).toBe(open)
    if (open === 401) {
      expect(without.headers.get('www-authenticate')).toMatch(
        /^Bearer realm="dragoman".*, resource_metadata="/,
      )
    }
    const withToken = await home.request(method, path(), { ...options, token: good })
    expect(withToken.status).toBe(signed)
  })

  test('every row of the table is walked', () => {
    const patterns = routes.map(
      (route) =>
        [route.method.toUpperCase(), new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}$`)] as const,
    )
    const unwalked = patterns.filter(
      ([method, pattern]) =>
        !steps.some((step) => step.method === method && pattern.test(step.path().split('?')[0] ?? '')),
    )
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
