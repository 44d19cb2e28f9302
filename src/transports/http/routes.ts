import { filters } from '../../../schemas/entry-fields.ts'
import { isRecord, type Json } from '../../../schemas/json.ts'
import { playgroundRoutes } from './playground-routes.ts'
import { type Route, routesOf } from './route.ts'

const search = {
  action: 'search_agents',
  query: {
    q: 'query',
    ...Object.fromEntries(Object.values(filters).map(({ name }) => [name, `filters.${name}`])),
    limit: 'limit',
    cursor: 'cursor',
    sort: 'sort',
    facets: 'facets',
    min_score: 'min_score',
    max_tokens: 'max_tokens',
    detail: 'detail',
    discovery: 'discovery',
  },
  // Lists are validated by the revision of this registry, which says nothing about others.
  defaults: { limit: 20, federation: 'none' },
} as const

const card = { action: 'get_card', query: { 'A2A-Version': 'a2a_version' }, versions: true } as const

/** Outside of A2A's own bindings a client need not name a version, and a client that names none may speak 0.3. */
const standardCard = { ...card, defaults: { a2a_version: '0.3', through: true } } as const

const page = { limit: 'limit', cursor: 'cursor' } as const

const install = {
  action: 'install_config',
  query: { host: 'host', target: 'target' },
  fails: ['not_installable'],
} as const

/** A hosted agent's action at its own address: `{"input": …}` in, `{"output": …}` out. */
const utility = { body: 'input', show: (output: Json) => ({ body: { output } }) } as const

const registry = routesOf('svc.registry')

/** The REST interface. */
export const routes: readonly Route[] = [
  registry('GET /public/agents', 'List and search public agents', search),
  registry('GET /public/agents/:identifier', 'Full metadata and capabilities of one agent', {
    action: 'get_agent',
    entry: true,
  }),
  registry('POST /a2a/discover', 'Find agents by natural-language intent', {
    action: 'search',
    access: { scope: 'agents:read' },
  }),
  routesOf('svc.utility.wiki')('POST /a2a/utility/wiki', 'Look up an encyclopedia page', {
    ...utility,
    action: 'lookup',
  }),
  routesOf('svc.utility.finance')('POST /a2a/utility/finance', 'Get a crypto or stock price', {
    ...utility,
    action: 'get_current_price',
  }),
  routesOf('svc.utility.reader')('POST /a2a/utility/reader', 'Read any URL as clean Markdown', {
    ...utility,
    action: 'extract_content',
  }),
  registry('GET /.well-known/agent-card.json', "The registry's own agent card", card),
  registry('GET /agents/:name/.well-known/agent-card.json', 'The card of a hosted or rendered agent', card),
  registry('GET /a2a/v1/.well-known/agent-card.json', "The registry's standard A2A card", standardCard),
  registry(
    'GET /a2a/v1/:tenant/.well-known/agent-card.json',
    'The standard A2A card for calling an agent through this gateway',
    { ...standardCard, parameters: { tenant: 'agent' } },
  ),
  registry('GET /api/agents', 'List public agents', search),
  registry('POST /api/agents/search', 'Search agents by natural-language intent'),
  registry('POST /api/agents/publish', 'Create a new agent, in STAGE', {
    entry: true,
    status: 201,
    show: (entry) => ({ body: entry, location: `/api/agents/${isRecord(entry) ? String(entry.id) : ''}` }),
  }),
  registry('POST /api/agents/validate', 'Validate a card or a publication'),
  registry('GET /api/agents/:packageName', 'Get one agent', { action: 'get_agent', entry: true }),
  registry('PUT /api/agents/:id', 'Update an agent', { action: 'update', entry: true, conditional: true }),
  registry('POST /api/agents/:id/go-live', 'Publish an agent: STAGE to ACTIVE', {
    entry: true,
    conditional: true,
  }),
  registry('POST /api/agents/:id/unpublish', 'Unpublish an agent: ACTIVE to STAGE', {
    entry: true,
    conditional: true,
  }),
  registry('DELETE /api/agents/:id', 'Delete an agent', { action: 'delete', conditional: true }),
  registry('GET /public/agents/:identifier/versions', 'Every version of an agent, the highest first', {
    action: 'list_versions',
    query: page,
  }),
  registry('GET /api/agents/:id/versions', 'Every version of an agent, the highest first', {
    action: 'list_versions',
    query: page,
  }),
  registry('GET /public/agents/:identifier/install', 'How to install an agent in each host', install),
  registry('GET /api/agents/:packageName/install', 'How to install an agent in each host', install),
  registry('POST /api/agents/:id/claim', 'Claim an agent without a proved owner', { conditional: true }),
  registry('POST /api/agents/:id/verify', 'Prove the domain of an agent', { conditional: true }),
  registry('POST /api/agents/:id/check', 'Probe an agent now'),
  registry('POST /api/agents/:id/transfer', 'Offer an agent to another owner', { conditional: true }),
  registry('POST /api/agents/:id/accept-transfer', 'Accept an agent that its owner offers to you', {
    entry: true,
    conditional: true,
  }),
  registry('GET /api/transfers', 'List the agents that are offered to you, or that you offer', {
    action: 'list_transfers',
    query: { made: 'made', ...page },
    uncached: true,
  }),
  registry('POST /api/agents/:id/deprecate', 'Deprecate an agent, or end its deprecation', {
    entry: true,
    conditional: true,
  }),
  registry('POST /api/agents/:id/suspend', 'Suspend an agent, or lift a suspension', {
    entry: true,
    conditional: true,
  }),
  registry('POST /api/agents/:id/report', 'Report an agent', { status: 204 }),
  registry('GET /api/agents/:id/audit', 'Audit log of an agent', {
    query: page,
    uncached: true,
  }),
  registry('POST /api/agents/:id/purge', 'Purge an agent from the database, the indexes and snapshots', {
    uncached: true,
  }),
  registry('GET /api/personal-data', 'What the registry stores of you', {
    action: 'get_personal_data',
    query: { table: 'table', cursor: 'cursor', subject: 'subject', issuer: 'issuer' },
    uncached: true,
  }),
  registry('POST /api/personal-data/delete', 'Delete what the registry stores of you', {
    action: 'delete_personal_data',
    uncached: true,
  }),
  registry('POST /api/keys', 'Create an API key', { action: 'create_key', status: 201, uncached: true }),
  registry('PUT /api/agents/:id/credential', 'Store your credential for an agent', {
    action: 'set_credential',
    uncached: true,
    fails: ['not_callable'],
  }),
  registry('DELETE /api/agents/:id/credential', 'Delete your credential for an agent', {
    action: 'delete_credential',
  }),
  registry('GET /api/credentials', 'List the agents for which you have stored a credential', {
    action: 'list_credentials',
    uncached: true,
  }),
  registry('GET /api/keys', 'List API keys', { action: 'list_keys', uncached: true }),
  registry('DELETE /api/keys/:id', 'Delete an API key, with the tokens obtained with it', {
    action: 'delete_key',
  }),
  registry('GET /public/changes', 'Changes since a revision, as a page or as a stream', {
    action: 'watch_changes',
    query: { since: 'since', limit: 'limit' },
    uncached: true,
    fails: ['cursor_expired'],
    events: { action: 'watch_changes', id: 'revision', after: 'since' },
  }),
  registry('POST /api/webhooks', 'Create a webhook for changes', {
    action: 'create_webhook',
    status: 201,
    uncached: true,
    gives: 'webhook',
  }),
  registry('GET /api/webhooks', 'List your webhooks', { action: 'list_webhooks', uncached: true }),
  registry('GET /api/webhooks/:id', 'Read a webhook and the results of its last deliveries', {
    action: 'get_webhook',
    uncached: true,
  }),
  registry('PUT /api/webhooks/:id', 'Change a webhook, or enable it again', {
    action: 'update_webhook',
    uncached: true,
  }),
  registry('DELETE /api/webhooks/:id', 'Delete a webhook', { action: 'delete_webhook' }),
  registry('GET /api/usage', 'What you use of each quota, and what is left', {
    action: 'get_usage',
    query: { subject: 'subject', issuer: 'issuer', namespace: 'namespace' },
    uncached: true,
  }),
  registry('PUT /api/quotas', 'Set a quota of an owner or a namespace', {
    action: 'set_quota',
    uncached: true,
  }),
  ...playgroundRoutes,
]
