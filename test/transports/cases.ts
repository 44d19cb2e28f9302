import type { Json } from '../../schemas/json.ts'

export type Credentials = keyof typeof credentials

/** Who calls. The tests make a token for each of these. */
const credentials = {
  none: 'no token',
  good: 'every scope but admin',
  reader: 'agents:read alone',
  expired: 'a token that has expired',
  tampered: 'a token whose payload was changed',
  kidless: 'a token without kid',
  foreign: 'a token for another audience',
  garbage: 'not a token',
}

export interface Case {
  readonly name: string
  readonly envelope: Record<string, unknown>
  readonly as?: Credentials
  /** The stable code of the failure, or the expected output. */
  readonly code?: string
  readonly output?: (output: Json) => void
  /** The same call as a REST row, if a row can express it. */
  readonly rest?: { readonly method: string; readonly path: string; readonly body?: unknown }
}

/** One call as an envelope and as a REST row. */
type Forms = Pick<Case, 'envelope' | 'rest'>

const registry = 'custom.svc.registry'

/** `row` is the method and the path of the same call over REST. */
function call(to: string, action: string, params: unknown, row?: string, body?: unknown): Forms {
  const [method = '', path = ''] = row?.split(' ') ?? []
  return { envelope: { to, action, params }, ...(row && { rest: { method, path, body } }) }
}

function ask(action: string, params: unknown, row?: string, body?: unknown): Forms {
  return call(registry, action, params, row, body)
}

function search(params: object): Forms {
  return ask('search', params, 'POST /api/agents/search', params)
}

function list(params: object, path: string): Forms {
  return ask('search_agents', params, `GET ${path}`)
}

function publish(params: object): Forms {
  return ask('publish', params, 'POST /api/agents/publish', params)
}

function utility(name: string, action: string, params: object): Forms {
  return call(`svc.utility.${name}`, action, params, `POST /a2a/utility/${name}`, { input: params })
}

/** Calls by their names, each of which is answered with such an output. */
function answered(output: (output: Json) => void, calls: Record<string, Forms>): Case[] {
  return Object.entries(calls).map(([name, forms]) => ({ name, output, ...forms }))
}

/** Calls by their names, each of which ends with this code for this caller. */
function refused(code: string, as: Credentials, calls: Record<string, Forms>): Case[] {
  return Object.entries(calls).map(([name, forms]) => ({ name, code, as, ...forms }))
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { deeper: value }
  return value
}

/** Would set a limit in the prototype of the params. */
const polluting = '{"query":"x","__proto__":{"limit":1}}'

const values = Array.from({ length: 100_001 }, () => 0)

const isSearch = (output: Json) => {
  if (!('agents' in (output as object))) throw new Error('no agents')
}

/** A search that says which words it corrected. */
const isCorrected = (expected: Json | undefined) => (output: Json) => {
  isSearch(output)
  const { corrected } = output as { corrected?: Json }
  if (JSON.stringify(corrected) !== JSON.stringify(expected)) throw new Error(JSON.stringify(corrected))
}

const isLook = (output: Json) => {
  if (!('liveness' in (output as object))) throw new Error('no liveness')
}

const isChanges = (output: Json) => {
  const { changes } = output as { changes: object[] }
  if (changes.length === 0) throw new Error('no changes')
}

/** The cases that every transport must answer alike. */
export const cases: readonly Case[] = [
  ...answered(isSearch, {
    'a search by intent': search({ query: 'read a web page' }),
    'a search with a limit': search({ query: 'encyclopedia', limit: 1 }),
    'a list of all agents by name': list({ sort: 'name', limit: 20 }, '/api/agents?sort=name'),
    'a search by tag': list({ filters: { tags: ['test'] }, limit: 20 }, '/public/agents?tags=test'),
    'a search by category without case': list(
      { filters: { category: 'Utilities' }, limit: 20 },
      '/public/agents?category=Utilities',
    ),
    'a search with facets': list({ facets: true, limit: 20 }, '/public/agents?facets=true'),
    'a search by intent that shares no word with what it finds': list(
      { query: 'how much is bitcoin worth', limit: 20 },
      '/public/agents?q=how%20much%20is%20bitcoin%20worth',
    ),
    'a search for no less than a score, in few tokens': list(
      { query: 'read a web page', min_score: 0.2, max_tokens: 100, limit: 20 },
      '/public/agents?q=read%20a%20web%20page&min_score=0.2&max_tokens=100',
    ),
    'an envelope without params': { envelope: { to: registry, action: 'search_agents' } },
    'agents that are live alone': list(
      { query: 'encyclopedia', filters: { live: true } },
      '/public/agents?q=encyclopedia&live=true&limit=5',
    ),
  }),
  ...answered(() => {}, {
    'a name that needs its A2A form': ask(
      'get_agent',
      { agent: 'custom.svc.utility.wiki' },
      'GET /public/agents/custom.svc.utility.wiki',
    ),
    resolve_package: call('svc.registry', 'resolve_package', { package_name: 'svc.utility.reader' }),
    'resolve_package of the latest version': call('svc.registry', 'resolve_package', {
      package_name: 'svc.utility.reader',
      version: 'latest',
    }),
    "the registry's card": ask('get_card', {}, 'GET /.well-known/agent-card.json'),
  }),
  {
    name: 'a search with a misspelt word, which the answer corrects',
    output: isCorrected([{ from: 'encyclopdia', to: 'encyclopedia' }]),
    ...list({ query: 'encyclopdia page', limit: 20 }, '/public/agents?q=encyclopdia%20page'),
  },
  {
    name: 'a search for a misspelt word as it is written',
    output: isCorrected(undefined),
    ...list(
      { query: 'encyclopdia page', exact: true, limit: 20 },
      '/public/agents?q=encyclopdia%20page&exact=true',
    ),
  },
  {
    name: 'names that complete what is typed',
    output: (output) => {
      const [first] = (output as { suggestions: { package_name: string }[] }).suggestions
      if (first?.package_name !== 'svc.utility.wiki') throw new Error(JSON.stringify(output))
    },
    ...ask('suggest', { text: 'utility wi' }, 'GET /public/suggest?q=utility%20wi'),
  },
  {
    name: 'what happened since a revision',
    output: isChanges,
    ...ask('watch_changes', { since: 1, limit: 2 }, 'GET /public/changes?since=1&limit=2'),
  },
  {
    name: 'the versions of an agent',
    output: (output) => {
      if ((output as { total: number }).total !== 1) throw new Error('no version')
    },
    ...ask('list_versions', { agent: 'svc.utility.wiki' }, 'GET /public/agents/svc.utility.wiki/versions'),
  },
  {
    name: 'what differs between two versions of an agent',
    output: (output) => {
      if ((output as { differences: [] }).differences.length !== 0) throw new Error('a version is itself')
    },
    ...ask(
      'diff_versions',
      { agent: 'svc.utility.wiki', from: 'latest', to: 'latest' },
      'GET /public/agents/svc.utility.wiki/diff?from=latest&to=latest',
    ),
  },
  {
    name: 'the liveness of an agent by days',
    output: (output) => {
      if (!Array.isArray((output as { days: unknown }).days)) throw new Error('no days')
    },
    ...ask(
      'get_liveness_history',
      { agent: 'svc.utility.wiki' },
      'GET /public/agents/svc.utility.wiki/liveness',
    ),
  },
  {
    name: 'how to install a hosted agent in one host',
    output: (output) => {
      const { targets } = output as { targets: { hosts: { host: string; command: string }[] }[] }
      if (!targets[0]?.hosts[0]?.command.startsWith('claude mcp add')) throw new Error('no command')
    },
    ...ask(
      'install_config',
      { agent: 'svc.utility.wiki', host: 'claude-code', target: 'gateway' },
      'GET /public/agents/svc.utility.wiki/install?host=claude-code&target=gateway',
    ),
  },
  ...refused('invalid_request', 'none', {
    'what happened since a revision that is still to come': ask(
      'watch_changes',
      { since: 123_456 },
      'GET /public/changes?since=123456',
    ),
    'what happened since no revision at all': ask(
      'watch_changes',
      { since: 'yesterday' },
      'GET /public/changes?since=yesterday',
    ),
    'how to install an agent in a host that nobody knows': ask(
      'install_config',
      { agent: 'svc.utility.wiki', host: 'emacs' },
      'GET /api/agents/svc.utility.wiki/install?host=emacs',
    ),
    'a missing field': search({}),
    'an empty query': search({ query: '' }),
    'a query of spaces': search({ query: '   ' }),
    'a query that is a number': search({ query: 5 }),
    'a query that is null': search({ query: null }),
    'a query of 1,001 characters': search({ query: 'q'.repeat(1001) }),
    'an unknown field': search({ query: 'x', limt: 3 }),
    'an unknown filter': list({ filters: { colour: 'red' } }, '/public/agents?colour=red'),
    'a limit of 0': list({ limit: 0 }, '/public/agents?limit=0'),
    'a limit of 101': list({ limit: 101 }, '/public/agents?limit=101'),
    'a limit of "abc"': list({ limit: 'abc' }, '/public/agents?limit=abc'),
    'a limit of 1.5': list({ limit: 1.5 }, '/public/agents?limit=1.5'),
    'a limit below nothing': list({ limit: -1 }, '/public/agents?limit=-1'),
    'a cursor of junk': list({ cursor: 'junk' }, '/public/agents?cursor=junk'),
    'a cursor that is JSON': list({ cursor: 'WzEsIngiLCJ5Il0' }, '/public/agents?cursor=WzEsIngiLCJ5Il0'),
    'an unknown sort': list({ sort: 'best' }, '/public/agents?sort=best'),
    'a score above 1': list({ query: 'mail', min_score: 2 }, '/public/agents?q=mail&min_score=2'),
    'a budget of no tokens': list({ query: 'mail', max_tokens: 0 }, '/public/agents?q=mail&max_tokens=0'),
    'a category that is no slug': list({ filters: { category: 'a b' } }, '/public/agents?category=a%20b'),
    'a flag that is no flag': list({ facets: 'maybe' }, '/public/agents?facets=maybe'),
    'STAGE without mine': list({ filters: { state: 'STAGE' } }, '/api/agents?state=STAGE'),
    'params that are a list': ask('search', [], 'POST /api/agents/search', []),
    'params that are text': ask('search', 'query', 'POST /api/agents/search', '"query"'),
    'JSON 33 levels deep': search({ query: 'x', deep: nested(33) }),
    'a __proto__ key': ask('search', JSON.parse(polluting), 'POST /api/agents/search', polluting),
    'an envelope without an action': { envelope: { to: registry, params: {} } },
    'an envelope to nobody': { envelope: { action: 'search', params: {} } },
    'an envelope with a field too many': {
      envelope: { to: registry, action: 'search_agents', params: {}, from: 'me' },
    },
    'an export in no format': call(
      'svc.playground',
      'export_session',
      { session: 'nobody', format: 'x' },
      'GET /api/playground/session/nobody/export?format=x',
    ),
    'agents that are live, or so': list({ filters: { live: 'perhaps' } }, '/public/agents?live=perhaps'),
  }),
  ...refused('not_found', 'none', {
    'resolve_package of a version that there never was': call('svc.registry', 'resolve_package', {
      package_name: 'svc.utility.reader',
      version: '99.0.0',
    }),
    'how to install what an agent lacks': ask(
      'install_config',
      { agent: 'svc.utility.wiki', target: 'package' },
      'GET /api/agents/svc.utility.wiki/install?target=package',
    ),
    'how to install an agent in STAGE': ask(
      'install_config',
      { agent: 'com.example.staged' },
      'GET /public/agents/com.example.staged/install',
    ),
    'the versions of an agent in STAGE': ask(
      'list_versions',
      { agent: 'com.example.staged' },
      'GET /api/agents/com.example.staged/versions',
    ),
    'an unknown agent': call('com.example.nobody', 'search', {}, 'GET /public/agents/com.example.nobody'),
    'a session that is not there': call(
      'svc.playground',
      'execute',
      { session: 'nobody', agent: 'svc.registry', capability: 'search' },
      'POST /api/playground/session/nobody/execute',
      { agent: 'svc.registry', capability: 'search' },
    ),
    'the steps of a session that is not there': call(
      'svc.playground',
      'get_session',
      { session: 'nobody' },
      'GET /api/playground/session/nobody',
    ),
    'an API key for a playground session': call('svc.playground', 'execute', {
      session: 'nobody',
      agent: 'svc.registry',
      capability: 'create_key',
    }),
  }),
  ...refused('hosted_agent', 'good', {
    'a deprecation of a hosted agent': ask(
      'deprecate',
      { agent: 'svc.utility.wiki' },
      'POST /api/agents/svc.utility.wiki/deprecate',
      {},
    ),
    'a change of a hosted agent': ask(
      'update',
      { agent: 'svc.utility.wiki', name: 'Mine' },
      'PUT /api/agents/svc.utility.wiki',
      { name: 'Mine' },
    ),
  }),
  ...refused('invalid_request', 'good', {
    'a creating call with a key that is none': ask('publish', {
      ...publication('com.example.keyed'),
      idempotency_key: 'two words',
    }),
    'a publication that lacks nearly all': publish({ package_name: 'com.example.x' }),
    'a name that is an address': publish(publication('custom.mine')),
    'a name with capitals': publish(publication('Com.Example')),
    'a symbol that is a path': utility('finance', 'get_current_price', { symbol: '../../etc' }),
    'an API key for longer than a year': ask('create_key', { ttl_s: 365 * 86_400 + 1 }, 'POST /api/keys', {
      ttl_s: 365 * 86_400 + 1,
    }),
    'a revocation of two things at once': ask('revoke', { kid: 'any', jti: 'any' }),
    'a revocation of a token that does not hold': ask('revoke', { token: 'garbage' }),
  }),
  ...refused('not_callable', 'none', {
    'an agent listed elsewhere': call('com.example.listed', 'anything', {}),
  }),
  ...refused('not_callable', 'good', {
    'an agent listed elsewhere, with a token': call('com.example.listed', 'anything', {}),
  }),
  ...refused('unauthenticated', 'none', {
    'mine without a token': list({ filters: { mine: true } }, '/api/agents?mine=true'),
    'a write without a token': publish({ package_name: 'com.example.x' }),
    'a call without a token': utility('finance', 'get_current_price', { symbol: 'BTC' }),
    'a look at an agent for nobody': ask(
      'check',
      { agent: 'svc.utility.wiki' },
      'POST /api/agents/svc.utility.wiki/check',
    ),
    'an API key for nobody': ask('create_key', {}, 'POST /api/keys', {}),
    'a list of API keys for nobody': {
      envelope: { to: registry, action: 'list_keys' },
      rest: { method: 'GET', path: '/api/keys' },
    },
    'a revocation by nobody': ask('revoke', { jti: '1' }),
  }),
  ...refused('too_large', 'none', {
    'a message over 1 MiB': search({ query: 'q'.repeat(1024 * 1024 + 8192) }),
    'a message of more than 100,000 values': search({ query: 'x', values }),
  }),
  ...refused('not_found', 'good', {
    'an agent in STAGE, to a stranger': ask(
      'get_agent',
      { agent: 'com.example.staged' },
      'GET /api/agents/com.example.staged',
    ),
    "a transition of somebody else's agent in STAGE": ask(
      'go_live',
      { agent: 'com.example.staged' },
      'POST /api/agents/com.example.staged/go-live',
      {},
    ),
    'a delete of what is not there': ask(
      'delete',
      { agent: 'com.example.nobody' },
      'DELETE /api/agents/com.example.nobody',
    ),
    'the end of a session that is not there, with a token': call(
      'svc.playground',
      'delete_session',
      { session: 'nobody' },
      'DELETE /api/playground/session/nobody',
    ),
    'the end of an API key that is not there': ask(
      'delete_key',
      { key: 'drg_AAAAAAAA' },
      'DELETE /api/keys/drg_AAAAAAAA',
    ),
  }),
  ...refused('unknown_action', 'none', { 'an unknown action': ask('serch', {}) }),
  ...refused('forbidden', 'reader', {
    'a write without the scope': publish({ package_name: 'com.example.x' }),
    'a call without the scope': utility('finance', 'get_current_price', { symbol: 'BTC' }),
    'a session with a token that lacks the scope': call(
      'svc.playground',
      'get_session',
      { session: 'nobody' },
      'GET /api/playground/session/nobody',
    ),
    'an API key with a scope that its creator lacks': ask(
      'create_key',
      { scopes: ['agents:read', 'agents:write'] },
      'POST /api/keys',
      { scopes: ['agents:read', 'agents:write'] },
    ),
  }),
  ...refused('conflict', 'good', { 'a name that is taken': publish(publication('com.example.staged')) }),
  ...refused('forbidden', 'good', {
    "a name of the operator's": publish(publication('svc.mine')),
    "a change of somebody else's agent": ask(
      'update',
      { agent: 'com.example.listed', name: 'Mine' },
      'PUT /api/agents/com.example.listed',
      { name: 'Mine' },
    ),
    'an import by somebody who is no admin': ask('import_entries', { lines: ['{}'] }),
    'an API key with admin, by no admin': ask('create_key', { scopes: ['admin'] }, 'POST /api/keys', {
      scopes: ['admin'],
    }),
    'an API key with a namespace that its creator lacks': ask(
      'create_key',
      { namespaces: ['com.google'] },
      'POST /api/keys',
      { namespaces: ['com.google'] },
    ),
    "a revocation of somebody else's token": ask('revoke', { jti: 'another' }),
    "a revocation of somebody else's everything": ask('revoke', { subject: 'owner' }),
    'a revocation of a signing key by no admin': ask('revoke', { kid: 'any' }),
  }),
  ...refused('reserved_tag', 'good', {
    'the reserved tag': publish({ ...publication('com.example.tagged'), tags: ['Test'] }),
  }),
  ...refused('blocked_address', 'good', {
    'a page on a private address': utility('reader', 'extract_content', {
      url: 'http://169.254.169.254/latest/meta-data',
    }),
  }),
  ...refused('not_configured', 'good', {
    'an encyclopedia nobody has configured': utility('wiki', 'lookup', { query: 'Dragoman' }),
  }),
  {
    name: 'a look at an agent of our own',
    as: 'reader',
    output: isLook,
    ...ask('check', { agent: 'svc.utility.wiki' }, 'POST /api/agents/svc.utility.wiki/check'),
  },
  ...refused('unauthenticated', 'expired', { 'an expired token': list({}, '/public/agents') }),
  ...refused('unauthenticated', 'tampered', { 'a tampered token': list({}, '/public/agents') }),
  ...refused('unauthenticated', 'kidless', { 'a token without kid': list({}, '/public/agents') }),
  ...refused('unauthenticated', 'foreign', { 'a token for another audience': list({}, '/public/agents') }),
  ...refused('unauthenticated', 'garbage', { 'a token that is none': list({}, '/public/agents') }),
]

export function publication(package_name: string) {
  return {
    package_name,
    name: 'An agent',
    description: 'Does something.',
    capabilities: [{ name: 'do_it', description: 'Does it.' }],
  }
}
