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

const registry = 'custom.svc.registry'
const search = (params: object) => ({ to: registry, action: 'search', params })
const list = (params: object) => ({ to: registry, action: 'search_agents', params })

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = { deeper: value }
  return value
}

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
  {
    name: 'a search by intent',
    envelope: search({ query: 'read a web page' }),
    output: isSearch,
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'read a web page' } },
  },
  {
    name: 'a search with a limit',
    envelope: search({ query: 'encyclopedia', limit: 1 }),
    output: isSearch,
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'encyclopedia', limit: 1 } },
  },
  {
    name: 'a list of all agents by name',
    envelope: list({ sort: 'name', limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/api/agents?sort=name' },
  },
  {
    name: 'a search by tag',
    envelope: list({ filters: { tags: ['test'] }, limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?tags=test' },
  },
  {
    name: 'a search by category without case',
    envelope: list({ filters: { category: 'Utilities' }, limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?category=Utilities' },
  },
  {
    name: 'a search with facets',
    envelope: list({ facets: true, limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?facets=true' },
  },
  {
    name: 'a search by intent that shares no word with what it finds',
    envelope: list({ query: 'how much is bitcoin worth', limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?q=how%20much%20is%20bitcoin%20worth' },
  },
  {
    name: 'a search with a misspelt word, which the answer corrects',
    envelope: list({ query: 'enciclopedia page', limit: 20 }),
    output: isCorrected([{ from: 'enciclopedia', to: 'encyclopedia' }]),
    rest: { method: 'GET', path: '/public/agents?q=enciclopedia%20page' },
  },
  {
    name: 'a search for a misspelt word as it is written',
    envelope: list({ query: 'enciclopedia page', exact: true, limit: 20 }),
    output: isCorrected(undefined),
    rest: { method: 'GET', path: '/public/agents?q=enciclopedia%20page&exact=true' },
  },
  {
    name: 'names that complete what is typed',
    envelope: { to: registry, action: 'suggest', params: { text: 'utility wi' } },
    output: (output) => {
      const [first] = (output as { suggestions: { package_name: string }[] }).suggestions
      if (first?.package_name !== 'svc.utility.wiki') throw new Error(JSON.stringify(output))
    },
    rest: { method: 'GET', path: '/public/suggest?q=utility%20wi' },
  },
  {
    name: 'a search for no less than a score, in few tokens',
    envelope: list({ query: 'read a web page', min_score: 0.2, max_tokens: 100, limit: 20 }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?q=read%20a%20web%20page&min_score=0.2&max_tokens=100' },
  },
  {
    name: 'a name that needs its A2A form',
    envelope: { to: registry, action: 'get_agent', params: { agent: 'custom.svc.utility.wiki' } },
    output: () => {},
    rest: { method: 'GET', path: '/public/agents/custom.svc.utility.wiki' },
  },
  {
    name: 'what happened since a revision',
    envelope: { to: registry, action: 'watch_changes', params: { since: 1, limit: 2 } },
    output: isChanges,
    rest: { method: 'GET', path: '/public/changes?since=1&limit=2' },
  },
  {
    name: 'what happened since a revision that is still to come',
    envelope: { to: registry, action: 'watch_changes', params: { since: 123_456 } },
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/changes?since=123456' },
  },
  {
    name: 'what happened since no revision at all',
    envelope: { to: registry, action: 'watch_changes', params: { since: 'yesterday' } },
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/changes?since=yesterday' },
  },
  {
    name: 'resolve_package',
    envelope: {
      to: 'svc.registry',
      action: 'resolve_package',
      params: { package_name: 'svc.utility.reader' },
    },
    output: () => {},
  },
  {
    name: 'resolve_package of the latest version',
    envelope: {
      to: 'svc.registry',
      action: 'resolve_package',
      params: { package_name: 'svc.utility.reader', version: 'latest' },
    },
    output: () => {},
  },
  {
    name: 'resolve_package of a version that there never was',
    envelope: {
      to: 'svc.registry',
      action: 'resolve_package',
      params: { package_name: 'svc.utility.reader', version: '99.0.0' },
    },
    code: 'not_found',
  },
  {
    name: 'the versions of an agent',
    envelope: { to: registry, action: 'list_versions', params: { agent: 'svc.utility.wiki' } },
    output: (output) => {
      if ((output as { total: number }).total !== 1) throw new Error('no version')
    },
    rest: { method: 'GET', path: '/public/agents/svc.utility.wiki/versions' },
  },
  {
    name: 'what differs between two versions of an agent',
    envelope: {
      to: registry,
      action: 'diff_versions',
      params: { agent: 'svc.utility.wiki', from: 'latest', to: 'latest' },
    },
    output: (output) => {
      if ((output as { differences: [] }).differences.length !== 0) throw new Error('a version is itself')
    },
    rest: { method: 'GET', path: '/public/agents/svc.utility.wiki/diff?from=latest&to=latest' },
  },
  {
    name: 'the liveness of an agent by days',
    envelope: { to: registry, action: 'get_liveness_history', params: { agent: 'svc.utility.wiki' } },
    output: (output) => {
      if (!Array.isArray((output as { days: unknown }).days)) throw new Error('no days')
    },
    rest: { method: 'GET', path: '/public/agents/svc.utility.wiki/liveness' },
  },
  {
    name: 'how to install a hosted agent in one host',
    envelope: {
      to: registry,
      action: 'install_config',
      params: { agent: 'svc.utility.wiki', host: 'claude-code', target: 'gateway' },
    },
    output: (output) => {
      const { targets } = output as { targets: { hosts: { host: string; command: string }[] }[] }
      if (!targets[0]?.hosts[0]?.command.startsWith('claude mcp add')) throw new Error('no command')
    },
    rest: { method: 'GET', path: '/public/agents/svc.utility.wiki/install?host=claude-code&target=gateway' },
  },
  {
    name: 'how to install an agent in a host that nobody knows',
    envelope: {
      to: registry,
      action: 'install_config',
      params: { agent: 'svc.utility.wiki', host: 'emacs' },
    },
    code: 'invalid_request',
    rest: { method: 'GET', path: '/api/agents/svc.utility.wiki/install?host=emacs' },
  },
  {
    name: 'how to install what an agent lacks',
    envelope: {
      to: registry,
      action: 'install_config',
      params: { agent: 'svc.utility.wiki', target: 'package' },
    },
    code: 'not_found',
    rest: { method: 'GET', path: '/api/agents/svc.utility.wiki/install?target=package' },
  },
  {
    name: 'how to install an agent in STAGE',
    envelope: { to: registry, action: 'install_config', params: { agent: 'com.example.staged' } },
    code: 'not_found',
    rest: { method: 'GET', path: '/public/agents/com.example.staged/install' },
  },
  {
    name: 'the versions of an agent in STAGE',
    envelope: { to: registry, action: 'list_versions', params: { agent: 'com.example.staged' } },
    code: 'not_found',
    rest: { method: 'GET', path: '/api/agents/com.example.staged/versions' },
  },
  {
    name: 'a deprecation of a hosted agent',
    envelope: { to: registry, action: 'deprecate', params: { agent: 'svc.utility.wiki' } },
    as: 'good',
    code: 'hosted_agent',
    rest: { method: 'POST', path: '/api/agents/svc.utility.wiki/deprecate', body: {} },
  },
  {
    name: 'a creating call with a key that is none',
    envelope: {
      to: registry,
      action: 'publish',
      params: { ...publication('com.example.keyed'), idempotency_key: 'two words' },
    },
    as: 'good',
    code: 'invalid_request',
  },
  {
    name: "the registry's card",
    envelope: { to: registry, action: 'get_card', params: {} },
    output: () => {},
    rest: { method: 'GET', path: '/.well-known/agent-card.json' },
  },
  {
    name: 'an envelope without params',
    envelope: { to: registry, action: 'search_agents' },
    output: isSearch,
  },
  {
    name: 'an agent listed elsewhere',
    envelope: { to: 'com.example.listed', action: 'anything', params: {} },
    code: 'not_callable',
  },
  {
    name: 'an agent listed elsewhere, with a token',
    envelope: { to: 'com.example.listed', action: 'anything', params: {} },
    as: 'good',
    code: 'not_callable',
  },

  {
    name: 'a missing field',
    envelope: search({}),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: {} },
  },
  {
    name: 'an empty query',
    envelope: search({ query: '' }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: '' } },
  },
  {
    name: 'a query of spaces',
    envelope: search({ query: '   ' }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: '   ' } },
  },
  {
    name: 'a query that is a number',
    envelope: search({ query: 5 }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 5 } },
  },
  {
    name: 'a query that is null',
    envelope: search({ query: null }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: null } },
  },
  {
    name: 'a query of 1,001 characters',
    envelope: search({ query: 'q'.repeat(1001) }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'q'.repeat(1001) } },
  },
  {
    name: 'an unknown field',
    envelope: search({ query: 'x', limt: 3 }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'x', limt: 3 } },
  },
  {
    name: 'an unknown filter',
    envelope: list({ filters: { colour: 'red' } }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?colour=red' },
  },
  {
    name: 'a limit of 0',
    envelope: list({ limit: 0 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?limit=0' },
  },
  {
    name: 'a limit of 101',
    envelope: list({ limit: 101 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?limit=101' },
  },
  {
    name: 'a limit of "abc"',
    envelope: list({ limit: 'abc' }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?limit=abc' },
  },
  {
    name: 'a limit of 1.5',
    envelope: list({ limit: 1.5 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?limit=1.5' },
  },
  {
    name: 'a limit below nothing',
    envelope: list({ limit: -1 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?limit=-1' },
  },
  {
    name: 'a cursor of junk',
    envelope: list({ cursor: 'junk' }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?cursor=junk' },
  },
  {
    name: 'a cursor that is JSON',
    envelope: list({ cursor: 'WzEsIngiLCJ5Il0' }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?cursor=WzEsIngiLCJ5Il0' },
  },
  {
    name: 'an unknown sort',
    envelope: list({ sort: 'best' }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?sort=best' },
  },
  {
    name: 'a score above 1',
    envelope: list({ query: 'mail', min_score: 2 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?q=mail&min_score=2' },
  },
  {
    name: 'a budget of no tokens',
    envelope: list({ query: 'mail', max_tokens: 0 }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?q=mail&max_tokens=0' },
  },
  {
    name: 'a category that is no slug',
    envelope: list({ filters: { category: 'a b' } }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?category=a%20b' },
  },
  {
    name: 'a flag that is no flag',
    envelope: list({ facets: 'maybe' }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?facets=maybe' },
  },
  {
    name: 'STAGE without mine',
    envelope: list({ filters: { state: 'STAGE' } }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/api/agents?state=STAGE' },
  },
  {
    name: 'mine without a token',
    envelope: list({ filters: { mine: true } }),
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/api/agents?mine=true' },
  },
  {
    name: 'params that are a list',
    envelope: { to: registry, action: 'search', params: [] },
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: [] },
  },
  {
    name: 'params that are text',
    envelope: { to: registry, action: 'search', params: 'query' },
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: '"query"' },
  },
  {
    name: 'JSON 33 levels deep',
    envelope: search({ query: 'x', deep: nested(33) }),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'x', deep: nested(33) } },
  },
  {
    name: 'a message over 1 MiB',
    envelope: search({ query: 'q'.repeat(1024 * 1024 + 8192) }),
    code: 'too_large',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'q'.repeat(1024 * 1024 + 8192) } },
  },
  {
    name: 'a message of more than 100,000 values',
    envelope: search({ query: 'x', values }),
    code: 'too_large',
    rest: { method: 'POST', path: '/api/agents/search', body: { query: 'x', values } },
  },
  {
    name: 'a __proto__ key',
    envelope: search(JSON.parse('{"query":"x","__proto__":{"limit":1}}')),
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/search', body: '{"query":"x","__proto__":{"limit":1}}' },
  },

  {
    name: 'an unknown agent',
    envelope: { to: 'com.example.nobody', action: 'search', params: {} },
    code: 'not_found',
    rest: { method: 'GET', path: '/public/agents/com.example.nobody' },
  },
  {
    name: 'an agent in STAGE, to a stranger',
    envelope: { to: registry, action: 'get_agent', params: { agent: 'com.example.staged' } },
    as: 'good',
    code: 'not_found',
    rest: { method: 'GET', path: '/api/agents/com.example.staged' },
  },
  {
    name: 'an unknown action',
    envelope: { to: registry, action: 'serch', params: {} },
    code: 'unknown_action',
  },
  { name: 'an envelope without an action', envelope: { to: registry, params: {} }, code: 'invalid_request' },
  { name: 'an envelope to nobody', envelope: { action: 'search', params: {} }, code: 'invalid_request' },
  {
    name: 'an envelope with a field too many',
    envelope: { to: registry, action: 'search_agents', params: {}, from: 'me' },
    code: 'invalid_request',
  },

  {
    name: 'a write without a token',
    envelope: { to: registry, action: 'publish', params: { package_name: 'com.example.x' } },
    code: 'unauthenticated',
    rest: { method: 'POST', path: '/api/agents/publish', body: { package_name: 'com.example.x' } },
  },
  {
    name: 'a write without the scope',
    envelope: { to: registry, action: 'publish', params: { package_name: 'com.example.x' } },
    as: 'reader',
    code: 'forbidden',
    rest: { method: 'POST', path: '/api/agents/publish', body: { package_name: 'com.example.x' } },
  },
  {
    name: 'a publication that lacks nearly all',
    envelope: { to: registry, action: 'publish', params: { package_name: 'com.example.x' } },
    as: 'good',
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/publish', body: { package_name: 'com.example.x' } },
  },
  {
    name: 'a name that is taken',
    envelope: { to: registry, action: 'publish', params: publication('com.example.staged') },
    as: 'good',
    code: 'conflict',
    rest: { method: 'POST', path: '/api/agents/publish', body: publication('com.example.staged') },
  },
  {
    name: "a name of the operator's",
    envelope: { to: registry, action: 'publish', params: publication('svc.mine') },
    as: 'good',
    code: 'forbidden',
    rest: { method: 'POST', path: '/api/agents/publish', body: publication('svc.mine') },
  },
  {
    name: 'a name that is an address',
    envelope: { to: registry, action: 'publish', params: publication('custom.mine') },
    as: 'good',
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/publish', body: publication('custom.mine') },
  },
  {
    name: 'a name with capitals',
    envelope: { to: registry, action: 'publish', params: publication('Com.Example') },
    as: 'good',
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/agents/publish', body: publication('Com.Example') },
  },
  {
    name: 'the reserved tag',
    envelope: {
      to: registry,
      action: 'publish',
      params: { ...publication('com.example.tagged'), tags: ['Test'] },
    },
    as: 'good',
    code: 'reserved_tag',
    rest: {
      method: 'POST',
      path: '/api/agents/publish',
      body: { ...publication('com.example.tagged'), tags: ['Test'] },
    },
  },
  {
    name: 'a change of a hosted agent',
    envelope: { to: registry, action: 'update', params: { agent: 'svc.utility.wiki', name: 'Mine' } },
    as: 'good',
    code: 'hosted_agent',
    rest: { method: 'PUT', path: '/api/agents/svc.utility.wiki', body: { name: 'Mine' } },
  },
  {
    name: "a change of somebody else's agent",
    envelope: { to: registry, action: 'update', params: { agent: 'com.example.listed', name: 'Mine' } },
    as: 'good',
    code: 'forbidden',
    rest: { method: 'PUT', path: '/api/agents/com.example.listed', body: { name: 'Mine' } },
  },
  {
    name: "a transition of somebody else's agent in STAGE",
    envelope: { to: registry, action: 'go_live', params: { agent: 'com.example.staged' } },
    as: 'good',
    code: 'not_found',
    rest: { method: 'POST', path: '/api/agents/com.example.staged/go-live', body: {} },
  },
  {
    name: 'a delete of what is not there',
    envelope: { to: registry, action: 'delete', params: { agent: 'com.example.nobody' } },
    as: 'good',
    code: 'not_found',
    rest: { method: 'DELETE', path: '/api/agents/com.example.nobody' },
  },
  {
    name: 'an import by somebody who is no admin',
    envelope: { to: registry, action: 'import_entries', params: { lines: ['{}'] } },
    as: 'good',
    code: 'forbidden',
  },

  {
    name: 'a call without a token',
    envelope: { to: 'svc.utility.finance', action: 'get_current_price', params: { symbol: 'BTC' } },
    code: 'unauthenticated',
    rest: { method: 'POST', path: '/a2a/utility/finance', body: { input: { symbol: 'BTC' } } },
  },
  {
    name: 'a call without the scope',
    envelope: { to: 'svc.utility.finance', action: 'get_current_price', params: { symbol: 'BTC' } },
    as: 'reader',
    code: 'forbidden',
    rest: { method: 'POST', path: '/a2a/utility/finance', body: { input: { symbol: 'BTC' } } },
  },
  {
    name: 'a symbol that is a path',
    envelope: { to: 'svc.utility.finance', action: 'get_current_price', params: { symbol: '../../etc' } },
    as: 'good',
    code: 'invalid_request',
    rest: { method: 'POST', path: '/a2a/utility/finance', body: { input: { symbol: '../../etc' } } },
  },
  {
    name: 'a page on a private address',
    envelope: {
      to: 'svc.utility.reader',
      action: 'extract_content',
      params: { url: 'http://169.254.169.254/latest/meta-data' },
    },
    as: 'good',
    code: 'blocked_address',
    rest: {
      method: 'POST',
      path: '/a2a/utility/reader',
      body: { input: { url: 'http://169.254.169.254/latest/meta-data' } },
    },
  },
  {
    name: 'an encyclopedia nobody has configured',
    envelope: { to: 'svc.utility.wiki', action: 'lookup', params: { query: 'Dragoman' } },
    as: 'good',
    code: 'not_configured',
    rest: { method: 'POST', path: '/a2a/utility/wiki', body: { input: { query: 'Dragoman' } } },
  },
  {
    name: 'a session that is not there',
    envelope: {
      to: 'svc.playground',
      action: 'execute',
      params: { session: 'nobody', agent: 'svc.registry', capability: 'search' },
    },
    code: 'not_found',
    rest: {
      method: 'POST',
      path: '/api/playground/session/nobody/execute',
      body: { agent: 'svc.registry', capability: 'search' },
    },
  },

  {
    name: 'the steps of a session that is not there',
    envelope: { to: 'svc.playground', action: 'get_session', params: { session: 'nobody' } },
    code: 'not_found',
    rest: { method: 'GET', path: '/api/playground/session/nobody' },
  },
  {
    name: 'an export in no format',
    envelope: { to: 'svc.playground', action: 'export_session', params: { session: 'nobody', format: 'x' } },
    code: 'invalid_request',
    rest: { method: 'GET', path: '/api/playground/session/nobody/export?format=x' },
  },
  {
    name: 'the end of a session that is not there, with a token',
    envelope: { to: 'svc.playground', action: 'delete_session', params: { session: 'nobody' } },
    as: 'good',
    code: 'not_found',
    rest: { method: 'DELETE', path: '/api/playground/session/nobody' },
  },
  {
    name: 'a session with a token that lacks the scope',
    envelope: { to: 'svc.playground', action: 'get_session', params: { session: 'nobody' } },
    as: 'reader',
    code: 'forbidden',
    rest: { method: 'GET', path: '/api/playground/session/nobody' },
  },

  {
    name: 'a look at an agent of our own',
    envelope: { to: registry, action: 'check', params: { agent: 'svc.utility.wiki' } },
    as: 'reader',
    output: isLook,
    rest: { method: 'POST', path: '/api/agents/svc.utility.wiki/check' },
  },
  {
    name: 'a look at an agent for nobody',
    envelope: { to: registry, action: 'check', params: { agent: 'svc.utility.wiki' } },
    code: 'unauthenticated',
    rest: { method: 'POST', path: '/api/agents/svc.utility.wiki/check' },
  },
  {
    name: 'agents that are live alone',
    envelope: list({ query: 'encyclopedia', filters: { live: true } }),
    output: isSearch,
    rest: { method: 'GET', path: '/public/agents?q=encyclopedia&live=true&limit=5' },
  },
  {
    name: 'agents that are live, or so',
    envelope: list({ filters: { live: 'perhaps' } }),
    code: 'invalid_request',
    rest: { method: 'GET', path: '/public/agents?live=perhaps' },
  },

  {
    name: 'an API key for nobody',
    envelope: { to: registry, action: 'create_key', params: {} },
    code: 'unauthenticated',
    rest: { method: 'POST', path: '/api/keys', body: {} },
  },
  {
    name: 'an API key with a scope that its creator lacks',
    envelope: { to: registry, action: 'create_key', params: { scopes: ['agents:read', 'agents:write'] } },
    as: 'reader',
    code: 'forbidden',
    rest: { method: 'POST', path: '/api/keys', body: { scopes: ['agents:read', 'agents:write'] } },
  },
  {
    name: 'an API key with admin, by no admin',
    envelope: { to: registry, action: 'create_key', params: { scopes: ['admin'] } },
    as: 'good',
    code: 'forbidden',
    rest: { method: 'POST', path: '/api/keys', body: { scopes: ['admin'] } },
  },
  {
    name: 'an API key with a namespace that its creator lacks',
    envelope: { to: registry, action: 'create_key', params: { namespaces: ['com.google'] } },
    as: 'good',
    code: 'forbidden',
    rest: { method: 'POST', path: '/api/keys', body: { namespaces: ['com.google'] } },
  },
  {
    name: 'an API key for longer than a year',
    envelope: { to: registry, action: 'create_key', params: { ttl_s: 365 * 86_400 + 1 } },
    as: 'good',
    code: 'invalid_request',
    rest: { method: 'POST', path: '/api/keys', body: { ttl_s: 365 * 86_400 + 1 } },
  },
  {
    name: 'a list of API keys for nobody',
    envelope: { to: registry, action: 'list_keys' },
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/api/keys' },
  },
  {
    name: 'the end of an API key that is not there',
    envelope: { to: registry, action: 'delete_key', params: { key: 'drg_AAAAAAAA' } },
    as: 'good',
    code: 'not_found',
    rest: { method: 'DELETE', path: '/api/keys/drg_AAAAAAAA' },
  },
  {
    name: 'a revocation by nobody',
    envelope: { to: registry, action: 'revoke', params: { jti: '1' } },
    code: 'unauthenticated',
  },
  {
    name: "a revocation of somebody else's token",
    envelope: { to: registry, action: 'revoke', params: { jti: 'another' } },
    as: 'good',
    code: 'forbidden',
  },
  {
    name: "a revocation of somebody else's everything",
    envelope: { to: registry, action: 'revoke', params: { subject: 'owner' } },
    as: 'good',
    code: 'forbidden',
  },
  {
    name: 'a revocation of a signing key by no admin',
    envelope: { to: registry, action: 'revoke', params: { kid: 'any' } },
    as: 'good',
    code: 'forbidden',
  },
  {
    name: 'a revocation of two things at once',
    envelope: { to: registry, action: 'revoke', params: { kid: 'any', jti: 'any' } },
    as: 'good',
    code: 'invalid_request',
  },
  {
    name: 'a revocation of a token that does not hold',
    envelope: { to: registry, action: 'revoke', params: { token: 'garbage' } },
    as: 'good',
    code: 'invalid_request',
  },
  {
    name: 'an API key for a playground session',
    envelope: {
      to: 'svc.playground',
      action: 'execute',
      params: { session: 'nobody', agent: 'svc.registry', capability: 'create_key' },
    },
    code: 'not_found',
  },

  {
    name: 'an expired token',
    envelope: list({}),
    as: 'expired',
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/public/agents' },
  },
  {
    name: 'a tampered token',
    envelope: list({}),
    as: 'tampered',
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/public/agents' },
  },
  {
    name: 'a token without kid',
    envelope: list({}),
    as: 'kidless',
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/public/agents' },
  },
  {
    name: 'a token for another audience',
    envelope: list({}),
    as: 'foreign',
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/public/agents' },
  },
  {
    name: 'a token that is none',
    envelope: list({}),
    as: 'garbage',
    code: 'unauthenticated',
    rest: { method: 'GET', path: '/public/agents' },
  },
]

export function publication(package_name: string) {
  return {
    package_name,
    name: 'An agent',
    description: 'Does something.',
    capabilities: [{ name: 'do_it', description: 'Does it.' }],
  }
}
