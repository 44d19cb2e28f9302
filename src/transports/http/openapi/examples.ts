import { initialValues, listedFields, pickFields } from '../../../../schemas/entry-fields.ts'
import type { Json, JsonObject } from '../../../../schemas/json.ts'
import { registryName } from '../../../../schemas/names.ts'

/**
 * The examples of the OpenAPI document. test/transports/openapi-examples.test.ts checks each against its schema and
 * sends the bodies to a gateway.
 */

const agent = 'com.example.weather'
const id = '019aa2f0-6c1e-7b54-9d3c-2f1d6a7c9e10'
const created_at = '2026-11-01T08:00:00.000Z'
const expires_at = '2026-11-01T09:00:00.000Z'
const message = 'The forecast of tomorrow for a city.'
const forecast = {
  name: 'forecast',
  description: message,
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const search = { query: 'the weather of tomorrow', limit: 5, filters: { tags: ['weather'] } }
const publication = {
  package_name: agent,
  name: 'Weather',
  description: 'Weather forecasts for any city.',
  capabilities: [forecast],
  endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp' }],
  tags: ['weather'],
  version: '1.0.0',
}

/** The bodies of requests, by operation id. */
export const bodyExamples: Readonly<Record<string, Json>> = {
  sendMessage: { to: 'custom.svc.registry', action: 'search', params: { query: search.query, limit: 5 } },
  discoverAgents: search,
  searchAgentsByIntent: search,
  discoverInSession: search,
  lookUpPage: { input: { query: 'Berlin' } },
  getPrice: { input: { symbol: 'BTC' } },
  readPage: { input: { url: 'https://example.com/' } },
  publishAgent: publication,
  validateAgent: { publication },
  updateAgent: { description: 'Weather forecasts for any city and any day.', version: '1.1.0' },
  claimAgent: { method: 'dns' },
  verifyAgent: { domain: 'weather.example.com' },
  transferAgent: { subject: 'maintainer' },
  deprecateAgent: { message: 'Use the agent of the new team.' },
  suspendAgent: { reason: 'It imitates another agent.' },
  reportAgent: { reason: 'misleading', detail: 'It answers with advertisements.' },
  purgeAgent: { reason: 'A court ordered it.' },
  deletePersonalData: { confirm: true },
  createKey: { label: 'The publisher in CI', scopes: ['agents:read', 'agents:write'], ttl_s: 86_400 },
  setCredential: { header: 'authorization', value: 'Bearer the-token-of-the-agent' },
  approvePackage: { hosts: ['api.example.com'], variables: { API_KEY: 'the-key' }, dry_run: true },
  createWebhook: { url: 'https://example.com/changes', kinds: ['listed', 'deleted'] },
  updateWebhook: { enabled: true },
  setQuota: { subject: 'publisher', quota: 'entries', limit: 2000 },
  executeInSession: { agent: registryName, capability: 'search_agents', input: { query: 'weather' } },
}

const liveness = {
  status: 'alive',
  since: created_at,
  checked_at: created_at,
  last_ok: created_at,
  uptime_30d: 0.998,
  p50_ms: 120,
  p95_ms: 340,
  failure: null,
  access: null,
}

const summary: JsonObject = {
  id,
  package_name: agent,
  name: publication.name,
  description: publication.description,
  verification_level: 'domain_verified',
  verified_domain: 'weather.example.com',
  protocol: 'mcp',
  manifest_url: `https://registry.example.com/agents/${agent}/.well-known/agent-card.json`,
  ...(pickFields(listedFields, { ...initialValues, ...publication }) as JsonObject),
  state: 'ACTIVE',
  version: publication.version,
  owner: { namespace: 'com.example' },
  endpoints: publication.endpoints,
  packages: [],
  source_url: null,
  origin: null,
  content_flags: [],
  signature: 'none',
  card_sha256: null,
  changed_since_verified: false,
  suspended: null,
  deprecated: null,
  callable: 'open',
  callable_reason: 'It answered without a credential.',
  liveness,
  created_at,
  updated_at: created_at,
  revision: 41,
}

const session = '5f0c2b9e7a'
const key = {
  id: 'drg_A1b2C3d4',
  label: 'The publisher in CI',
  issuer: 'urn:dragoman:local',
  subject: 'publisher',
  scopes: ['agents:read', 'agents:write'],
  namespaces: ['com.example'],
  revoked: null,
  created_at,
  expires_at,
}
const webhook = {
  id,
  url: 'https://example.com/changes',
  kinds: ['listed', 'deleted'],
  mine: false,
  enabled: true,
  created_at,
  delivered_revision: 41,
  failing_since: null,
  failures: 0,
  next_attempt_at: null,
  disabled_at: null,
  deliveries: [],
}

/** The answers, by the names of their schemas. */
export const answerExamples: Readonly<Record<string, Json>> = {
  Agent: {
    ...summary,
    capabilities: [forecast],
    card: { name: publication.name, description: publication.description },
    verification: null,
    manifest: null,
    reading: null,
    readme_url: null,
    icon_url: null,
    signature_report: null,
  },
  AgentPage: {
    agents: [{ ...summary, score: 0.83 }],
    total: 1,
    next_cursor: null,
  },
  AgentCard: {
    agent_id: `custom.${agent}`,
    name: publication.name,
    description: publication.description,
    capabilities: [forecast],
  },
  BriefAgentPage: {
    agents: [
      {
        package_name: agent,
        description: publication.description,
        callable: 'open',
        verification_level: 'domain_verified',
        actions: [forecast],
      },
    ],
    total: 1,
  },
  VersionPage: {
    versions: [
      {
        version: '1.0.0',
        revision: 41,
        published_at: created_at,
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        current: true,
      },
    ],
    next_cursor: null,
    total: 1,
  },
  Validation: {
    valid: true,
    form: null,
    findings: [],
    preview: null,
    publication: null,
    card_sha256: null,
  },
  VerificationOutcome: {
    package_name: agent,
    verified: false,
    verification_level: 'unverified',
    domain: 'weather.example.com',
    reason: 'No proof was found.',
    challenges: null,
    attempts: [{ method: 'dns', ok: false, detail: 'There is no TXT record.' }],
  },
  LivenessOutcome: {
    package_name: agent,
    liveness,
    signals: [{ signal: 'answer', ok: true, failure: null, detail: null, ms: 120 }],
  },
  TransferResult: { id, package_name: agent, revision: 42, status: 'offered' },
  ChangePage: {
    changes: [{ kind: 'deleted', revision: 43, at: created_at, id, package_name: agent }],
    next_since: 43,
    revision: 43,
    more: false,
  },
  NewApiKey: { ...key, key: 'drg_A1b2C3d4_THE-SECRET-PART' },
  ApiKeyList: { keys: [key] },
  Credential: {
    agent,
    kind: 'sign_in',
    header: 'authorization',
    variable: null,
    sign_in: { issuer: 'https://auth.example.com', scopes: ['read'], expires_at },
    origin: 'https://weather.example.com',
    created_at,
  },
  SignInAddress: {
    agent,
    sign_in_url: 'https://registry.example.com/connections/THE-CODE',
    issuer: 'https://auth.example.com',
    scopes: ['read'],
    expires_at,
  },
  NewWebhook: { ...webhook, secret: 'whsec_THE-SECRET' },
  Webhook: webhook,
  WebhookList: { webhooks: [webhook] },
  NewSession: { id: session, expires_at },
  Session: { id: session, created_at, expires_at, steps: [], more: false },
  Execution: { output: { agents: [], total: 0, next_cursor: null }, step: 1 },
  Problem: {
    type: 'https://registry.example.com/docs/errors#not_found',
    title: 'Not found',
    status: 404,
    detail: 'No agent is listed as com.example.wether.',
    code: 'not_found',
    instance: '0b5e4a2c-6f0e-4f55-9a51-0b3f1f6d2a77',
    retryable: false,
    nearest: [agent],
  },
}
