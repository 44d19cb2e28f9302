import { filters } from '../../../schemas/entry-fields.ts'
import type { Json } from '../../../schemas/json.ts'
import { registryName } from '../../../schemas/names.ts'
import { playgroundRoutes } from './playground-routes.ts'
import { type Route, routesOf } from './route.ts'

const searching = {
  action: 'search_agents',
  query: {
    q: 'query',
    ...Object.fromEntries(Object.values(filters).map(({ name }) => [name, `filters.${name}`])),
    limit: 'limit',
    cursor: 'cursor',
    sort: 'sort',
    facets: 'facets',
    facet_choices: 'facet_choices',
    exact: 'exact',
    min_score: 'min_score',
    max_tokens: 'max_tokens',
    detail: 'detail',
    discovery: 'discovery',
  },
  // Lists are validated by the revision of this registry, which says nothing about others.
  defaults: { limit: 20, federation: 'none' },
} as const

const card = { action: 'get_card', query: { 'A2A-Version': 'a2a_version' }, versions: true } as const

/**
 * Outside of A2A's own bindings a client need not name a version, and a client that names none may speak 0.3. Clients of
 * 0.2 look for agent.json.
 */
const standardCard = { ...card, defaults: { a2a_version: '0.3', through: true } } as const

const page = { limit: 'limit', cursor: 'cursor' } as const

const install = {
  action: 'install_config',
  query: { host: 'host', target: 'target' },
  fails: ['not_installable'],
} as const

/** A hosted agent's action at its own address: `{"input": …}` in, `{"output": …}` out. */
const utility = { body: 'input', show: (output: Json) => ({ body: { output } }) } as const

const search = routesOf(registryName, 'Search')
const history = routesOf(registryName, 'History')
const installation = routesOf(registryName, 'Installation')
const cards = routesOf(registryName, 'Cards')
const publishing = routesOf(registryName, 'Publishing')
const ownership = routesOf(registryName, 'Ownership')
const moderation = routesOf(registryName, 'Moderation')
const account = routesOf(registryName, 'Account')
const operations = routesOf(registryName, 'Operations')
const webhooks = routesOf(registryName, 'Webhooks')

/** The REST interface. */
export const routes: readonly Route[] = [
  search('GET /public/agents', 'searchAgents', searching),
  search('GET /public/agents/:agent', 'getAgent', { action: 'get_agent', entry: true }),
  search('GET /public/suggest', 'suggestNames', { query: { q: 'text', limit: 'limit' } }),
  operations('GET /public/status', 'getStatus', { action: 'get_status', uncached: true }),
  search('POST /a2a/discover', 'discoverAgents', { action: 'search', access: { scope: 'agents:read' } }),
  routesOf('svc.utility.wiki', 'Utilities')('POST /a2a/utility/wiki', 'lookUpPage', {
    ...utility,
    action: 'lookup',
  }),
  routesOf('svc.utility.finance', 'Utilities')('POST /a2a/utility/finance', 'getPrice', {
    ...utility,
    action: 'get_current_price',
  }),
  routesOf('svc.utility.reader', 'Utilities')('POST /a2a/utility/reader', 'readPage', {
    ...utility,
    action: 'extract_content',
  }),
  cards('GET /.well-known/agent-card.json', 'getRegistryCard', {
    ...card,
    summary: "The registry's own agent card",
  }),
  cards('GET /agents/:agent/.well-known/agent-card.json', 'getAgentCard', {
    ...card,
    summary: 'The card of a hosted or rendered agent',
  }),
  cards('GET /a2a/v1/.well-known/agent-card.json', 'getRegistryA2ACard', {
    ...standardCard,
    summary: "The registry's standard A2A card",
    also: [
      '/.well-known/agent.json',
      '/a2a/v1/.well-known/agent.json',
      // The clients in JavaScript resolve a base URL without a slash at its end, `/a2a/v1`, by its folder.
      '/a2a/.well-known/agent-card.json',
    ],
  }),
  cards('GET /a2a/v1/:tenant/.well-known/agent-card.json', 'getAgentA2ACard', {
    ...standardCard,
    summary: 'The standard A2A card for calling an agent through this gateway',
    parameters: { tenant: 'agent' },
    also: ['/a2a/v1/:tenant/.well-known/agent.json', '/agents/:tenant/.well-known/agent.json'],
  }),
  search('GET /api/agents', 'listAgents', { ...searching, summary: 'List agents' }),
  search('POST /api/agents/search', 'searchAgentsByIntent'),
  publishing('POST /api/agents/publish', 'publishAgent', {
    entry: true,
    status: 201,
    location: '/api/agents',
  }),
  publishing('POST /api/agents/validate', 'validateAgent'),
  search('GET /api/agents/:agent', 'readAgent', { action: 'get_agent', entry: true }),
  publishing('PUT /api/agents/:agent', 'updateAgent', { action: 'update', entry: true, conditional: true }),
  publishing('POST /api/agents/:agent/go-live', 'goLive', { entry: true, conditional: true }),
  publishing('POST /api/agents/:agent/unpublish', 'unpublishAgent', { entry: true, conditional: true }),
  publishing('DELETE /api/agents/:agent', 'deleteAgent', { action: 'delete', conditional: true }),
  history('GET /public/agents/:agent/versions', 'listPublicVersions', {
    action: 'list_versions',
    query: { ...page, changes: 'changes' },
  }),
  history('GET /api/agents/:agent/versions', 'listVersions', {
    action: 'list_versions',
    query: { ...page, changes: 'changes' },
  }),
  history('GET /public/agents/:agent/diff', 'diffPublicVersions', {
    action: 'diff_versions',
    query: { from: 'from', to: 'to' },
  }),
  history('GET /public/agents/:agent/liveness', 'getLivenessHistory', {
    action: 'get_liveness_history',
    query: { days: 'days' },
  }),
  installation('GET /public/agents/:agent/install', 'getPublicInstallConfig', install),
  installation('GET /api/agents/:agent/install', 'getInstallConfig', install),
  search('GET /public/agents/:agent/readme', 'getReadme', { action: 'get_readme' }),
  search('GET /public/agents/:agent/icon', 'getIcon', { action: 'get_icon' }),
  ownership('POST /api/agents/:agent/claim', 'claimAgent', { conditional: true }),
  ownership('POST /api/agents/:agent/verify', 'verifyAgent', { conditional: true }),
  publishing('POST /api/agents/:agent/check', 'checkAgent'),
  ownership('POST /api/agents/:agent/transfer', 'transferAgent', { conditional: true }),
  ownership('POST /api/agents/:agent/accept-transfer', 'acceptTransfer', { entry: true, conditional: true }),
  ownership('GET /api/transfers', 'listTransfers', {
    action: 'list_transfers',
    query: { made: 'made', ...page },
    uncached: true,
  }),
  publishing('POST /api/agents/:agent/deprecate', 'deprecateAgent', { entry: true, conditional: true }),
  moderation('POST /api/agents/:agent/suspend', 'suspendAgent', { entry: true, conditional: true }),
  moderation('GET /api/suspensions', 'listSuspensions', {
    action: 'list_suspensions',
    query: { by: 'by', ...page },
    uncached: true,
  }),
  moderation('POST /api/agents/:agent/report', 'reportAgent', { status: 204 }),
  history('GET /api/agents/:agent/calls', 'getCallHistory', {
    action: 'get_call_history',
    query: { days: 'days' },
    uncached: true,
  }),
  history('GET /api/agents/:agent/audit', 'listAuditEvents', { query: page, uncached: true }),
  moderation('GET /api/audit', 'listEvents', {
    action: 'list_events',
    query: { ...page, action: 'action' },
    uncached: true,
  }),
  moderation('POST /api/agents/:agent/purge', 'purgeAgent', { uncached: true }),
  account('GET /api/personal-data', 'getPersonalData', {
    action: 'get_personal_data',
    query: { table: 'table', cursor: 'cursor', subject: 'subject', issuer: 'issuer' },
    uncached: true,
  }),
  account('POST /api/personal-data/delete', 'deletePersonalData', {
    action: 'delete_personal_data',
    uncached: true,
  }),
  account('POST /api/keys', 'createKey', { action: 'create_key', status: 201, uncached: true }),
  account('PUT /api/agents/:agent/credential', 'setCredential', {
    action: 'set_credential',
    uncached: true,
    fails: ['not_callable'],
  }),
  account('DELETE /api/agents/:agent/credential', 'deleteCredential', { action: 'delete_credential' }),
  account('POST /api/agents/:agent/connect', 'connectAgent', {
    action: 'connect_agent',
    uncached: true,
    fails: ['not_callable', 'wrong_state'],
  }),
  account('GET /api/credentials', 'listCredentials', { action: 'list_credentials', uncached: true }),
  account('GET /api/keys', 'listKeys', { action: 'list_keys', uncached: true }),
  account('DELETE /api/keys/:id', 'deleteKey', {
    // Not `key`: a client that fills parameters by name would send the secret of the key.
    parameters: { id: 'key' },
    action: 'delete_key',
  }),
  history('GET /public/changes', 'listChanges', {
    action: 'watch_changes',
    query: { since: 'since', limit: 'limit', agent: 'agent' },
    uncached: true,
    fails: ['cursor_expired'],
    events: { action: 'watch_changes', id: 'revision', after: 'since' },
  }),
  webhooks('POST /api/webhooks', 'createWebhook', {
    action: 'create_webhook',
    status: 201,
    location: '/api/webhooks',
    uncached: true,
    gives: 'webhook',
  }),
  webhooks('GET /api/webhooks', 'listWebhooks', { action: 'list_webhooks', uncached: true }),
  webhooks('GET /api/webhooks/:webhook', 'getWebhook', { action: 'get_webhook', uncached: true }),
  webhooks('PUT /api/webhooks/:webhook', 'updateWebhook', { action: 'update_webhook', uncached: true }),
  webhooks('DELETE /api/webhooks/:webhook', 'deleteWebhook', { action: 'delete_webhook' }),
  account('GET /api/usage', 'getUsage', {
    action: 'get_usage',
    query: { subject: 'subject', issuer: 'issuer', namespace: 'namespace' },
    uncached: true,
  }),
  moderation('PUT /api/agents/:agent/approval', 'approvePackage', {
    action: 'approve_package',
    uncached: true,
    fails: ['not_callable', 'not_installable'],
  }),
  moderation('DELETE /api/agents/:agent/approval', 'revokeApproval', { action: 'revoke_approval' }),
  moderation('GET /api/approvals', 'listApprovals', {
    action: 'list_approvals',
    query: page,
    uncached: true,
  }),
  moderation('GET /api/quotas', 'listQuotas', { action: 'list_quotas', query: page, uncached: true }),
  moderation('PUT /api/quotas', 'setQuota', { action: 'set_quota', uncached: true }),
  ...playgroundRoutes,
]
