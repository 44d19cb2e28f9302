import type { JsonObject } from './json.ts'

/**
 * What a listed agent said, in the objects of its own protocol, beside the JSON of an output or an update. A transport
 * of the same protocol passes it on as it is; other transports convert it.
 */
export type Content =
  /** A CallToolResult of MCP. */
  | { readonly protocol: 'mcp'; readonly result: JsonObject }
  /**
   * A StreamResponse of A2A 1.0: `{task}`, `{message}`, `{statusUpdate}` or `{artifactUpdate}`. Its task id is a
   * reference for `continue_task`, and its context id one that the caller may send.
   */
  | { readonly protocol: 'a2a'; readonly event: JsonObject }

/** What a caller sent beside the params, in the objects of its own protocol. */
export type RequestContent =
  | {
      readonly protocol: 'mcp'
      /** The `_meta` of the request, without the keys of the protocol itself. */
      readonly meta: JsonObject
      /** Of the client's protocol version: `legacy` for those with `initialize`. */
      readonly era: 'legacy' | 'modern'
      /** The capabilities that the client states (ClientCapabilities). */
      readonly capabilities: JsonObject
      /** The level from which on the client wants log messages. */
      readonly log_level?: string
    }
  | {
      readonly protocol: 'a2a'
      /** A Message of A2A 1.0. */
      readonly message: JsonObject
      /** Metadata of the request. */
      readonly metadata?: JsonObject
      readonly accepted_output_modes?: readonly string[]
      /** Earlier tasks to which the message refers, as references for `continue_task`. */
      readonly references?: readonly string[]
      /** The value of `A2A-Extensions`. */
      readonly extensions?: string
      /** The caller does not wait for the end of a task, or receives its events. */
      readonly returns_immediately: boolean
    }
