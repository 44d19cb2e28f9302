import type { JsonSchema } from '../../../../schemas/json.ts'
import { scopes } from '../../../../schemas/scope.ts'
import { headerRefs } from './headers.ts'
import type { OpenApi, Operation } from './part.ts'
import { problemRef } from './responses.ts'

const text = { type: 'string' }
const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

/** Schemas of the paths that have no row in the table. */
export const otherSchemas: Readonly<Record<string, JsonSchema>> = {
  JsonRpcRequest: {
    type: 'object',
    description: 'A request or a notification of JSON-RPC 2.0.',
    required: ['jsonrpc', 'method'],
    properties: {
      jsonrpc: { type: 'string', const: '2.0' },
      id: { type: ['string', 'number', 'null'], description: 'Absent in a notification.' },
      method: text,
      params: ref('JsonObject'),
    },
  },
  JsonRpcAnswer: {
    type: 'object',
    description: 'A result or an error of JSON-RPC 2.0.',
    required: ['jsonrpc'],
    properties: {
      jsonrpc: { type: 'string', const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      result: {},
      error: ref('JsonObject'),
    },
  },
  TokenRequest: {
    type: 'object',
    required: ['grant_type'],
    properties: {
      grant_type: {
        type: 'string',
        description: 'client_credentials: an API key and its secret in Authorization: Basic.',
      },
      scope: { type: 'string', description: `Scopes, separated by spaces: ${scopes.join(', ')}.` },
      resource: {
        type: 'string',
        format: 'uri',
        description: 'The resource for which the token is valid (RFC 8707).',
      },
    },
  },
  TokenAnswer: {
    type: 'object',
    required: ['access_token', 'token_type', 'expires_in'],
    properties: {
      access_token: text,
      token_type: { type: 'string', const: 'Bearer' },
      expires_in: { type: 'integer', description: 'Seconds.' },
      scope: text,
    },
  },
  OAuthError: {
    type: 'object',
    description: 'RFC 6749 section 5.2.',
    required: ['error'],
    properties: { error: text, error_description: text },
  },
  Health: { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'ok' } } },
  Readiness: {
    type: 'object',
    required: ['status', 'reasons', 'draining', 'applied_revision', 'revision'],
    properties: {
      status: { type: 'string', enum: ['ready', 'degraded', 'not ready'] },
      reasons: { type: 'array', items: text, description: 'Why the gateway needs its operator.' },
      draining: { type: 'boolean' },
      applied_revision: { type: 'integer', description: 'The revision that searches see.' },
      revision: {
        type: ['integer', 'null'],
        description: 'Current revision; null if the database does not answer.',
      },
      meaning: ref('JsonObject'),
    },
  },
}

const withToken = [{}, { bearer: [] }, { oauth: [] }]

interface JsonRpcPath {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly parameters?: readonly unknown[]
  /** The status that answers a notification. */
  readonly notified: 202 | 204
}

/** A path that takes JSON-RPC: its errors are answers too, so it names no codes. */
function jsonRpc({
  operationId,
  summary,
  description,
  parameters = [],
  notified,
}: JsonRpcPath): Record<string, Operation> {
  return {
    post: {
      operationId,
      tags: ['Protocols'],
      summary,
      description,
      security: withToken,
      parameters,
      requestBody: { required: true, content: json(ref('JsonRpcRequest')) },
      responses: {
        200: {
          description: 'The answer, or a stream of answers.',
          content: { ...json(ref('JsonRpcAnswer')), 'text/event-stream': { schema: text } },
        },
        [notified]: { description: 'A notification was accepted.' },
        '4XX': { description: 'The error, as JSON-RPC.', content: json(ref('JsonRpcAnswer')) },
      },
    },
  }
}

/** A path at which everybody reads a document. */
function read(
  tag: 'Authorization' | 'Operations',
  operationId: string,
  summary: string,
  schema: JsonSchema,
): Record<string, Operation> {
  return {
    get: {
      operationId,
      tags: [tag],
      summary,
      description: `${summary}. Public.`,
      security: [{}],
      responses: { 200: { description: summary, content: json(schema) }, 429: problemRef(429) },
    },
  }
}

const oauthErrors = Object.fromEntries(
  [400, 401, 429].map((status) => [
    status,
    { description: 'The error of RFC 6749.', content: json(ref('OAuthError')) },
  ]),
)

/** A form that a client of OAuth posts, with an API key in `Authorization: Basic`. */
function form(
  operationId: string,
  summary: string,
  body: JsonSchema,
  answer: Operation['responses'][string],
): Record<string, Operation> {
  return {
    post: {
      operationId,
      tags: ['Authorization'],
      summary,
      description: `${summary}. The client authenticates by Authorization: Basic with its API key.`,
      security: [{ basic: [] }],
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema: body } } },
      responses: { 200: answer, ...oauthErrors },
    },
  }
}

const revocation = {
  type: 'object',
  required: ['token'],
  properties: { token: text, token_type_hint: text },
}

/** The paths that are not rows of the table: other protocols, the authorization server, the operator's pages. */
export const otherPaths: OpenApi['paths'] = {
  '/rpc': jsonRpc({
    operationId: 'callJsonRpc',
    summary: 'Call an action by JSON-RPC 2.0',
    description:
      'The methods are in the answer of rpc.discover (OpenRPC). A list of up to 50 requests is a batch, which a list answers.',
    notified: 204,
  }),
  '/a2a/v1': jsonRpc({
    operationId: 'callA2A',
    summary: 'Speak A2A over JSON-RPC',
    description: 'A2A 1.0 and 0.3; the binding HTTP+JSON is below the same path. The card names the skills.',
    notified: 204,
  }),
  '/mcp': jsonRpc({
    operationId: 'callMcp',
    summary: 'Speak MCP over Streamable HTTP',
    description: 'Every MCP client can use it; the tools are those of the registry and of the hosted agents.',
    notified: 202,
  }),
  '/mcp/agents/{agent}': jsonRpc({
    operationId: 'callAgentMcp',
    summary: 'Speak MCP with one agent',
    description: 'The tools are those of the agent, whichever protocol it speaks itself.',
    parameters: [{ name: 'agent', in: 'path', required: true, schema: text }],
    notified: 202,
  }),
  '/oauth/token': form('createToken', 'Get an access token', ref('TokenRequest'), {
    description: 'The token',
    headers: headerRefs('X-Request-Id'),
    content: json(ref('TokenAnswer')),
  }),
  '/oauth/revoke': form('revokeToken', 'Revoke an access token', revocation, { description: 'Done.' }),
  '/.well-known/oauth-authorization-server': read(
    'Authorization',
    'getAuthorizationServer',
    'Metadata of the authorization server (RFC 8414)',
    ref('JsonObject'),
  ),
  '/.well-known/oauth-protected-resource': read(
    'Authorization',
    'getProtectedResource',
    'Metadata of the protected resource (RFC 9728)',
    ref('JsonObject'),
  ),
  '/.well-known/jwks.json': read(
    'Authorization',
    'getKeys',
    "The keys that verify the gateway's tokens (RFC 7517)",
    ref('JsonObject'),
  ),
  '/healthz': read('Operations', 'getHealth', 'Whether the process answers', ref('Health')),
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      tags: ['Operations'],
      summary: 'Whether the gateway is ready',
      description: 'Whether the database answers and the index has caught up since the start.',
      security: [{}],
      responses: {
        200: { description: 'Ready.', content: json(ref('Readiness')) },
        400: problemRef(400),
        503: { description: 'Not ready.', content: json(ref('Readiness')) },
      },
    },
  },
  '/metrics': {
    get: {
      operationId: 'getMetrics',
      tags: ['Operations'],
      summary: 'Metrics in the text format of Prometheus',
      description: 'For loopback, unless the operator has opened it; absent if it is off.',
      security: [{}],
      responses: {
        200: { description: 'The metrics.', content: { 'text/plain': { schema: text } } },
        403: { description: 'Read from elsewhere than loopback.', content: json(ref('JsonObject')) },
      },
    },
  },
}
