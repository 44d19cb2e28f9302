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
  search('GET /public/agents', 'searchAgents', 'List and search public agents', searching),
  search('GET /public/agents/:agent', 'getAgent', 'Full metadata and capabilities of one agent', {
    action: 'get_agent',
    entry: true,
  }),
  search('GET /public/suggest', 'suggestNames', 'Names of agents that complete what is typed', {
    query: { q: 'text', limit: 'limit' },
  }),
  operations('GET /public/status', 'getStatus', 'The state of this gateway', {
    action: 'get_status',
    uncached: true,
  }),
  search('POST /a2a/discover', 'discoverAgents', 'Find agents by natural-language intent', {
    action: 'search',
    access: { scope: 'agents:read' },
  }),
  routesOf('svc.utility.wiki', 'Utilities')(
    'POST /a2a/utility/wiki',
    'lookUpPage',
    'Look up an encyclopedia page',
    { ...utility, action: 'lookup' },
  ),
  routesOf('svc.utility.finance', 'Utilities')(
    'POST /a2a/utility/finance',
    'getPrice',
    'Get a crypto or stock price',
    { ...utility, action: 'get_current_price' },
  ),
  routesOf('svc.utility.reader', 'Utilities')(
    'POST /a2a/utility/reader',
    'readPage',
    'Read any URL as clean Markdown',
    { ...utility, action: 'extract_content' },
  ),
  cards('GET /.well-known/agent-card.json', 'getRegistryCard', "The registry's own agent card", card),
  cards(
    'GET /agents/:agent/.well-known/agent-card.json',
    'getAgentCard',
    'The card of a hosted or rendered agent',
    card,
  ),
  cards('GET /a2a/v1/.well-known/agent-card.json', 'getRegistryA2ACard', "The registry's standard A2A card", {
    ...standardCard,
    also: [
      '/.well-known/agent.json',
      '/a2a/v1/.well-known/agent.json',
      // The clients in JavaScript resolve a base URL without a slash at its end, `/a2a/v1`, by its folder.
      '/a2a/.well-known/agent-card.json',
    ],
  }),
  cards(
    'GET /a2a/v1/:tenant/.well-known/agent-card.json',
    'getAgentA2ACard',
    'The standard A2A card for calling an agent through this gateway',
    {
      ...standardCard,
      parameters: { tenant: 'agent' },
      also: ['/a2a/v1/:tenant/.well-known/agent.json', '/agents/:tenant/.well-known/agent.json'],
    },
  ),
  search('GET /api/agents', 'listAgents', 'List public agents', searching),
  search('POST /api/agents/search', 'searchAgentsByIntent', 'Search agents by natural-language intent'),
  publishing('POST /api/agents/publish', 'publishAgent', 'Create a new agent, in STAGE', {
    entry: true,
    status: 201,
    location: '/api/agents',
  }),
  publishing('POST /api/agents/validate', 'validateAgent', 'Validate a card or a publication'),
  search('GET /api/agents/:agent', 'readAgent', 'Get one agent', { action: 'get_agent', entry: true }),
  publishing('PUT /api/agents/:agent', 'updateAgent', 'Update an agent', {
    action: 'update',
    entry: true,
    conditional: true,
  }),
  publishing('POST /api/agents/:agent/go-live', 'goLive', 'Publish an agent: STAGE to ACTIVE', {
    entry: true,
    conditional: true,
  }),
  publishing('POST /api/agents/:agent/unpublish', 'unpublishAgent', 'Unpublish an agent: ACTIVE to STAGE', {
    entry: true,
    conditional: true,
  }),
  publishing('DELETE /api/agents/:agent', 'deleteAgent', 'Delete an agent', {
    action: 'delete',
    conditional: true,
  }),
  history(
    'GET /public/agents/:agent/versions',
    'listPublicVersions',
    'Every version of an agent, the highest first',
    { action: 'list_versions', query: { ...page, changes: 'changes' } },
  ),
  history('GET /api/agents/:agent/versions', 'listVersions', 'Every version of an agent, the highest first', {
    action: 'list_versions',
    query: { ...page, changes: 'changes' },
  }),
  history(
    'GET /public/agents/:agent/diff',
    'diffPublicVersions',
    'What differs between two versions of an agent',
    { action: 'diff_versions', query: { from: 'from', to: 'to' } },
  ),
  history('GET /public/agents/:agent/liveness', 'getLivenessHistory', 'The liveness of an agent by days', {
    action: 'get_liveness_history',
    query: { days: 'days' },
  }),
  installation(
    'GET /public/agents/:agent/install',
    'getPublicInstallConfig',
    'How to install an agent in each host',
    install,
  ),
  installation(
    'GET /api/agents/:agent/install',
    'getInstallConfig',
    'How to install an agent in each host',
    install,
  ),
  search('GET /public/agents/:agent/readme', 'getReadme', 'The README that its publisher wrote', {
    action: 'get_readme',
  }),
  search('GET /public/agents/:agent/icon', 'getIcon', 'The icon, redrawn by the gateway', {
    action: 'get_icon',
  }),
  ownership('POST /api/agents/:agent/claim', 'claimAgent', 'Claim an agent without a proved owner', {
    conditional: true,
  }),
  ownership('POST /api/agents/:agent/verify', 'verifyAgent', 'Prove the domain of an agent', {
    conditional: true,
  }),
  publishing('POST /api/agents/:agent/check', 'checkAgent', 'Probe an agent now'),
  ownership('POST /api/agents/:agent/transfer', 'transferAgent', 'Offer an agent to another owner', {
    conditional: true,
  }),
  ownership(
    'POST /api/agents/:agent/accept-transfer',
    'acceptTransfer',
    'Accept an agent that its owner offers to you',
    { entry: true, conditional: true },
  ),
  ownership(
    'GET /api/transfers',
    'listTransfers',
    'List the agents that are offered to you, or that you offer',
    { action: 'list_transfers', query: { made: 'made', ...page }, uncached: true },
  ),
  publishing(
    'POST /api/agents/:agent/deprecate',
    'deprecateAgent',
    'Deprecate an agent, or end its deprecation',
    { entry: true, conditional: true },
  ),
  moderation('POST /api/agents/:agent/suspend', 'suspendAgent', 'Suspend an agent, or lift a suspension', {
    entry: true,
    conditional: true,
  }),
  moderation('GET /api/suspensions', 'listSuspensions', 'List the suspended agents', {
    action: 'list_suspensions',
    query: { by: 'by', ...page },
    uncached: true,
  }),
  moderation('POST /api/agents/:agent/report', 'reportAgent', 'Report an agent', { status: 204 }),
  history('GET /api/agents/:agent/calls', 'getCallHistory', 'The calls of an agent by days', {
    action: 'get_call_history',
    query: { days: 'days' },
    uncached: true,
  }),
  history('GET /api/agents/:agent/audit', 'listAuditEvents', 'Audit log of an agent', {
    query: page,
    uncached: true,
  }),
  moderation('GET /api/audit', 'listEvents', 'Audit log of all agents', {
    action: 'list_events',
    query: { ...page, action: 'action' },
    uncached: true,
  }),
  moderation(
    'POST /api/agents/:agent/purge',
    'purgeAgent',
    'Purge an agent from the database, the indexes and snapshots',
    { uncached: true },
  ),
  account('GET /api/personal-data', 'getPersonalData', 'What the registry stores of you', {
    action: 'get_personal_data',
    query: { table: 'table', cursor: 'cursor', subject: 'subject', issuer: 'issuer' },
    uncached: true,
  }),
  account('POST /api/personal-data/delete', 'deletePersonalData', 'Delete what the registry stores of you', {
    action: 'delete_personal_data',
    uncached: true,
  }),
  account('POST /api/keys', 'createKey', 'Create an API key', {
    action: 'create_key',
    status: 201,
    uncached: true,
  }),
  account('PUT /api/agents/:agent/credential', 'setCredential', 'Store your credential for an agent', {
    action: 'set_credential',
    uncached: true,
    fails: ['not_callable'],
  }),
  account('DELETE /api/agents/:agent/credential', 'deleteCredential', 'Delete your credential for an agent', {
    action: 'delete_credential',
  }),
  account(
    'POST /api/agents/:agent/connect',
    'connectAgent',
    'Get the address at which you sign in to an agent',
    { action: 'connect_agent', uncached: true, fails: ['not_callable', 'wrong_state'] },
  ),
  account(
    'GET /api/credentials',
    'listCredentials',
    'List the agents for which you have stored a credential',
    { action: 'list_credentials', uncached: true },
  ),
  account('GET /api/keys', 'listKeys', 'List API keys', { action: 'list_keys', uncached: true }),
  account('DELETE /api/keys/:id', 'deleteKey', 'Delete an API key, with the tokens obtained with it', {
    // Not `key`: a client that fills parameters by name would send the secret of the key.
    parameters: { id: 'key' },
    action: 'delete_key',
  }),
  history('GET /public/changes', 'listChanges', 'Changes since a revision, as a page or as a stream', {
    action: 'watch_changes',
    query: { since: 'since', limit: 'limit', agent: 'agent' },
    uncached: true,
    fails: ['cursor_expired'],
    events: { action: 'watch_changes', id: 'revision', after: 'since' },
  }),
  webhooks('POST /api/webhooks', 'createWebhook', 'Create a webhook for changes', {
    action: 'create_webhook',
    status: 201,
    location: '/api/webhooks',
    uncached: true,
    gives: 'webhook',
  }),
  webhooks('GET /api/webhooks', 'listWebhooks', 'List your webhooks', {
    action: 'list_webhooks',
    uncached: true,
  }),
  webhooks(
    'GET /api/webhooks/:webhook',
    'getWebhook',
    'Read a webhook and the results of its last deliveries',
    { action: 'get_webhook', uncached: true },
  ),
  webhooks('PUT /api/webhooks/:webhook', 'updateWebhook', 'Change a webhook, or enable it again', {
    action: 'update_webhook',
    uncached: true,
  }),
  webhooks('DELETE /api/webhooks/:webhook', 'deleteWebhook', 'Delete a webhook', {
    action: 'delete_webhook',
  }),
  account('GET /api/usage', 'getUsage', 'What you use of each quota, and what is left', {
    action: 'get_usage',
    query: { subject: 'subject', issuer: 'issuer', namespace: 'namespace' },
    uncached: true,
  }),
  moderation(
    'PUT /api/agents/:agent/approval',
    'approvePackage',
    'Let the gateway run the package of an agent',
    { action: 'approve_package', uncached: true, fails: ['not_callable', 'not_installable'] },
  ),
  moderation('DELETE /api/agents/:agent/approval', 'revokeApproval', 'Revoke the approval of a package', {
    action: 'revoke_approval',
  }),
  moderation('GET /api/approvals', 'listApprovals', 'List the packages that the gateway may run', {
    action: 'list_approvals',
    query: page,
    uncached: true,
  }),
  moderation('GET /api/quotas', 'listQuotas', 'List what owners and namespaces use of their quotas', {
    action: 'list_quotas',
    query: page,
    uncached: true,
  }),
  moderation('PUT /api/quotas', 'setQuota', 'Set a quota of an owner or a namespace', {
    action: 'set_quota',
    uncached: true,
  }),
  ...playgroundRoutes,
]
