import type { Envelope } from '../../../../schemas/envelope.ts'
import type { Json, JsonObject } from '../../../../schemas/json.ts'
import type { ReadRequest } from '../../http/input.ts'
import type { Html } from '../html.ts'
import type { ScriptName } from './assets.ts'
import type { Visitor } from './visitor.ts'

/** The entries of the head. */
export type Place = 'browse' | 'connect' | 'publish' | 'play' | 'docs' | 'account'

/** What a page shows between its head and its foot. */
export interface View {
  readonly title: string
  readonly description?: string
  readonly main: Html
  /** Which entry of the head leads to this page. */
  readonly place?: Place
  /** A script that this page alone loads, beside the one of all pages. */
  readonly script?: ScriptName
  /** The HTTP status; 200 when absent. */
  readonly status?: number
  /** Elements for the head of the document. */
  readonly head?: Html
}

/** One request of a page. */
export interface Visit {
  readonly request: ReadRequest
  readonly visitor: Visitor
  /** Runs an action of the registry as the visitor. */
  readonly ask: <Output>(action: string, params: JsonObject) => Promise<Output>
  /** Runs an action of the registry with the rights of the operator, if the visitor has them. */
  readonly operate: <Output>(action: string, params: JsonObject) => Promise<Output>
  /** Calls an agent as the visitor. */
  readonly call: (envelope: Envelope) => Promise<Json>
  /** Counts a page that calls no action, as a read of the visitor. */
  readonly count: () => Promise<void>
  /** The hidden field that each form with `method="post"` needs. */
  readonly token: () => string
}

/** The query of a request. */
export function queryOf({ url = '' }: ReadRequest): URLSearchParams {
  // Not relative to a base: there a path of two slashes would be the address of a host without a name.
  return new URL(`http://page${url}`).searchParams
}
