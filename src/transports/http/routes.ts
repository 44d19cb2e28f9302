import type { Access } from '../../../schemas/action.ts'
import type { Code } from '../../../schemas/failure.ts'
import { isRecord, type Json, type JsonObject } from '../../../schemas/json.ts'

export type Method = 'get' | 'post' | 'put' | 'delete'

/**
 * One REST endpoint is one row: data, so that the server, the OpenAPI document and the interface walk of the
 * tests all read the same table.
 */
export interface Route {
  readonly method: Method
  /** Express path with `:parameters`. */
  readonly path: string
  readonly summary: string
  readonly to: string
  readonly action: string
  /** Path parameter → field of the action's input. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Query parameter → field of the action's input, with a dot into objects. */
  readonly query?: Readonly<Record<string, string>>
  /** Where the JSON body goes: it is the input, or the input is in its one field `input`. Absent: no body. */
  readonly body?: 'whole' | 'input'
  /** Values of input fields that this row has and the action leaves open. */
  readonly defaults?: JsonObject
  /** The answer is one entry, whose revision validates it. */
  readonly entry?: true
  /** `If-Match` becomes `expected_revision`. */
  readonly conditional?: true
  /** A row may tighten the action's access, never loosen it. */
  readonly access?: Access
  readonly status?: 200 | 201 | 204
  /** `A2A-Version`, or `Accept` with a media type of A2A, asks for the standard card. */
  readonly versions?: true
  /** What is shown follows no revision of the registry, and is nobody's to keep. */
  readonly unkept?: true
  /** Field of other rows' inputs that the `id` in this answer is for; `agent` where the answer is one entry. */
  readonly gives?: string
  /** Failures that do not follow from what the row is, for the OpenAPI document. */
  readonly fails?: readonly Code[]
  readonly show?: (output: Json) => { readonly body: Json; readonly location?: string }
}

const registry = 'svc.registry'

const listed = {
  to: registry,
  action: 'search_agents',
  query: {
    q: 'query',
    target: 'filters.target',
    category: 'filters.category',
    tags: 'filters.tags',
    state: 'filters.state',
    mine: 'filters.mine',
    limit: 'limit',
    cursor: 'cursor',
    sort: 'sort',
    facets: 'facets',
    min_score: 'min_score',
    max_tokens: 'max_tokens',
  },
  defaults: { limit: 20 },
} as const

const version = { 'A2A-Version': 'a2a_version' } as const

/** Beside A2A's own bindings, nobody has to say which shape they mean; who says nothing may speak 0.3. */
const standardCard = {
  to: registry,
  action: 'get_card',
  query: version,
  versions: true,
  defaults: { a2a_version: '0.3', through: true },
} as const

const output = (value: Json) => ({ body: { output: value } })

/** The endpoints of the interface, section 4. */
export const routes: readonly Route[] = [
  { method: 'get', path: '/public/agents', summary: 'List and search public agents', ...listed },
  {
    method: 'get',
    path: '/public/agents/:identifier',
    summary: 'Full metadata and capabilities of one agent',
    to: registry,
    action: 'get_agent',
    entry: true,
    parameters: { identifier: 'agent' },
  },
  {
    method: 'post',
    path: '/a2a/discover',
    summary: 'Find agents by natural-language intent',
    to: registry,
    action: 'search',
    body: 'whole',
    access: { scope: 'agents:read' },
  },
  {
    method: 'post',
    path: '/a2a/utility/wiki',
    summary: 'Look up an encyclopedia page',
    to: 'svc.utility.wiki',
    action: 'lookup',
    body: 'input',
    show: output,
  },
  {
    method: 'post',
    path: '/a2a/utility/finance',
    summary: 'Get a crypto or stock price',
    to: 'svc.utility.finance',
    action: 'get_current_price',
    body: 'input',
    show: output,
  },
  {
    method: 'post',
    path: '/a2a/utility/reader',
    summary: 'Read any URL as clean Markdown',
    to: 'svc.utility.reader',
    action: 'extract_content',
    body: 'input',
    show: output,
  },
  {
    method: 'get',
    path: '/.well-known/agent-card.json',
    summary: "The registry's own agent card",
    to: registry,
    action: 'get_card',
    query: version,
    versions: true,
  },
  {
    method: 'get',
    path: '/agents/:name/.well-known/agent-card.json',
    summary: 'The card of a hosted or rendered agent',
    to: registry,
    action: 'get_card',
    parameters: { name: 'agent' },
    query: version,
    versions: true,
  },
  {
    method: 'get',
    path: '/a2a/v1/.well-known/agent-card.json',
    summary: "The registry's standard A2A card",
    ...standardCard,
  },
  {
    method: 'get',
    path: '/a2a/v1/:tenant/.well-known/agent-card.json',
    summary: 'The standard A2A card by which an agent is called through here',
    ...standardCard,
    parameters: { tenant: 'agent' },
  },
  { method: 'get', path: '/api/agents', summary: 'List public agents', ...listed },
  {
    method: 'post',
    path: '/api/agents/search',
    summary: 'Search agents by natural-language intent',
    to: registry,
    action: 'search',
    body: 'whole',
  },
  {
    method: 'post',
    path: '/api/agents/publish',
    summary: 'Create a new agent, in STAGE',
    to: registry,
    action: 'publish',
    entry: true,
    body: 'whole',
    status: 201,
    show: (entry) => ({ body: entry, location: `/api/agents/${isRecord(entry) ? String(entry.id) : ''}` }),
  },
  {
    method: 'post',
    path: '/api/agents/validate',
    summary: 'Say what is wrong with a card or a publication',
    to: registry,
    action: 'validate',
    body: 'whole',
  },
  {
    method: 'get',
    path: '/api/agents/:packageName',
    summary: 'Get one agent',
    to: registry,
    action: 'get_agent',
    entry: true,
    parameters: { packageName: 'agent' },
  },
  {
    method: 'put',
    path: '/api/agents/:id',
    summary: 'Update an agent',
    to: registry,
    action: 'update',
    entry: true,
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/go-live',
    summary: 'Publish an agent: STAGE to ACTIVE',
    to: registry,
    action: 'go_live',
    entry: true,
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/unpublish',
    summary: 'Unpublish an agent: ACTIVE to STAGE',
    to: registry,
    action: 'unpublish',
    entry: true,
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'delete',
    path: '/api/agents/:id',
    summary: 'Delete an agent',
    to: registry,
    action: 'delete',
    parameters: { id: 'agent' },
    conditional: true,
    status: 204,
  },
  {
    method: 'post',
    path: '/api/agents/:id/claim',
    summary: 'Claim an agent that nobody owns',
    to: registry,
    action: 'claim',
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/verify',
    summary: 'Prove the domain of an agent',
    to: registry,
    action: 'verify',
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/transfer',
    summary: 'Give an agent to another owner',
    to: registry,
    action: 'transfer',
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/suspend',
    summary: 'Suspend an agent, or lift a suspension',
    to: registry,
    action: 'suspend',
    entry: true,
    parameters: { id: 'agent' },
    body: 'whole',
    conditional: true,
  },
  {
    method: 'post',
    path: '/api/agents/:id/report',
    summary: 'Report an agent',
    to: registry,
    action: 'report',
    parameters: { id: 'agent' },
    body: 'whole',
    status: 204,
  },
  {
    method: 'get',
    path: '/api/agents/:id/audit',
    summary: 'What was done to an agent, and by whom',
    to: registry,
    action: 'audit',
    parameters: { id: 'agent' },
    query: { limit: 'limit', cursor: 'cursor' },
    unkept: true,
  },
  {
    method: 'post',
    path: '/api/keys',
    summary: 'Create an API key',
    to: registry,
    action: 'create_key',
    body: 'whole',
    status: 201,
    unkept: true,
  },
  {
    method: 'get',
    path: '/api/keys',
    summary: 'List API keys',
    to: registry,
    action: 'list_keys',
    unkept: true,
  },
  {
    method: 'delete',
    path: '/api/keys/:id',
    summary: 'Delete an API key, with the tokens obtained with it',
    to: registry,
    action: 'delete_key',
    parameters: { id: 'key' },
    status: 204,
  },
  {
    method: 'post',
    path: '/api/playground/session',
    summary: 'Create a playground session',
    to: 'svc.playground',
    action: 'create_session',
    body: 'whole',
    status: 201,
    gives: 'session',
  },
  {
    method: 'post',
    path: '/api/playground/session/:id/discover',
    summary: 'Discover agents in a session',
    to: 'svc.playground',
    action: 'discover',
    parameters: { id: 'session' },
    body: 'whole',
    fails: ['forbidden'],
  },
  {
    method: 'post',
    path: '/api/playground/session/:id/execute',
    summary: 'Execute a capability in a session',
    to: 'svc.playground',
    action: 'execute',
    parameters: { id: 'session' },
    body: 'whole',
  },
]
