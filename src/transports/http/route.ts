import type { Access } from '../../../schemas/action.ts'
import type { Code } from '../../../schemas/failure.ts'
import type { Json, JsonObject } from '../../../schemas/json.ts'

export type HttpMethod = 'get' | 'post' | 'put' | 'delete'

/** The groups of operations in the OpenAPI document. */
export const tags = {
  Search: 'Find agents and read them.',
  History: 'The versions, the liveness and the audit log of an agent, and the changes of the registry.',
  Installation: 'Configuration that connects a host to an agent.',
  Cards: 'The cards of the registry and of its agents, in its own form and in that of A2A.',
  Publishing: 'Create, change, publish and check agents of your own.',
  Ownership: 'Prove a domain, claim an agent, and transfer it to another owner.',
  Calling: 'Send messages to agents through the gateway.',
  Protocols: 'JSON-RPC, A2A and MCP, which have clients of their own.',
  Utilities: 'The agents that the gateway hosts: an encyclopedia, prices, a page reader.',
  Playground: 'Try agents in a session, and export the session as code.',
  Webhooks: 'Receive changes of the registry at an address of your own.',
  Account: 'API keys, credentials for agents, quotas and personal data of the caller.',
  Moderation:
    'Report an agent; for admins: suspend and purge agents, and set quotas; list what is suspended and what owners use.',
  Authorization: 'Tokens and the metadata of the authorization server (RFC 6749, 7009, 8414, 9728).',
  Operations: 'The status of the gateway; health, readiness and metrics for its operator.',
} as const

export type RouteTag = keyof typeof tags

/**
 * One REST endpoint is one row of data. The server, the OpenAPI document and the interface test all read the same
 * table.
 */
export interface Route {
  readonly method: HttpMethod
  /** Operation id of the OpenAPI document: a verb and its object. Generated clients name their functions by it. */
  readonly id: string
  readonly tag: RouteTag
  /** Express path with `:parameters`. */
  readonly path: string
  /** Other paths of the resource, for clients that ask there; the OpenAPI document leaves them out. */
  readonly also?: readonly string[]
  /** The title of the action when absent. */
  readonly summary?: string
  readonly to: string
  readonly action: string
  /** Path parameter → field of the action's input. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Query parameter → field of the action's input, with a dot into objects. */
  readonly query?: Readonly<Record<string, string>>
  /** How the JSON body becomes the input: it is the input, or its only field `input` is. Absent: no body. */
  readonly body?: 'whole' | 'input'
  /** Values of input fields for this row, if the action has no default. */
  readonly defaults?: JsonObject
  /** The answer is one entry, whose revision validates it. */
  readonly entry?: true
  /** `If-Match` becomes `expected_revision`. */
  readonly conditional?: true
  /** A row may tighten the action's access, never loosen it. */
  readonly access?: Access
  readonly status?: 200 | 201 | 204
  /** The path below which the created resource is read, by the `id` in the answer: the header `Location`. */
  readonly location?: string
  /** `A2A-Version`, or `Accept` with a media type of A2A, asks for the standard card. */
  readonly versions?: true
  /** The answer does not depend on a revision of the registry and must not be cached. */
  readonly uncached?: true
  /** Field of other rows' inputs that the `id` in this answer fills; `agent` if the answer is one entry. */
  readonly gives?: string
  /** Failures in addition to those that are derived from the row, for the OpenAPI document. */
  readonly fails?: readonly Code[]
  readonly show?: (output: Json) => Shown
  /** The media types of an answer that is sent as text. */
  readonly texts?: readonly string[]
  /** The action for `Accept: text/event-stream`; absent: the same action, if it streams or is a call. */
  readonly events?: Events
}

/** The form in which a row sends an answer: JSON, or the text of a file. */
export type Shown =
  | { readonly body: Json }
  | { readonly text: string; readonly media_type: string; readonly filename: string }

/** An action that streams at the path of another action. */
interface Events {
  readonly action: string
  /** Field of a part that is the id of its event. */
  readonly id: string
  /** Field of the input that `Last-Event-ID` fills. */
  readonly after: string
}

/** The members that a row may state. */
type Differences = Partial<Omit<Route, 'method' | 'path' | 'id' | 'tag' | 'to'>>

/**
 * Makes the rows of one agent by convention, from `POST /api/agents/:agent/go-live` and an id. The action is the last
 * part of the path (`go_live`). A parameter fills the field of its name (`agent`). POST and PUT have the input as their
 * body. DELETE answers 204. A row states only its differences from this.
 */
export function routesOf(to: string, tag: RouteTag) {
  return (
    address: `${Uppercase<HttpMethod>} /${string}`,
    id: string,
    differences: Differences = {},
  ): Route => {
    const [verb = '', path = ''] = address.split(' ')
    const method = verb.toLowerCase() as HttpMethod
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const parameters = Object.fromEntries(names.map((name) => [name, name]))
    return {
      method,
      path,
      id,
      tag,
      to,
      action: (path.split('/').at(-1) ?? '').replaceAll('-', '_'),
      ...(names.length > 0 && { parameters }),
      ...((method === 'post' || method === 'put') && { body: 'whole' }),
      ...(method === 'delete' && { status: 204 }),
      ...differences,
    }
  }
}
