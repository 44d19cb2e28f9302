import type { Readable, Writable } from 'node:stream'
import type { Notify, Update } from '../../schemas/action.ts'
import type { Content, RequestContent } from '../../schemas/content.ts'
import type { Capability, Endpoint, ServerStatement } from '../../schemas/entry-parts.ts'
import type { Failure } from '../../schemas/failure.ts'
import type { Json, JsonObject } from '../../schemas/json.ts'
import type { InputRequired } from '../../schemas/task.ts'
import type { Eventual } from '../common/eventual.ts'
import type { RpcError } from '../common/mcp/message.ts'

/** The context of a call to a remote agent. */
export interface RemoteCall {
  /** Aborts when the caller cancels or the time is over. */
  readonly signal: AbortSignal
  /** Sent with every request of this call and of no other call; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Key of the caller: a connection that outlasts a call (a session, a socket) serves one caller only. */
  readonly caller: string
  /** The task that this call continues. */
  readonly task?: RemoteTask
  /** What the caller sent beside the params. */
  readonly content?: RequestContent
  /** Sends the caller a notification of MCP, if that is the protocol of the caller. */
  readonly notifyClient?: Notify
  /** Present for an agent that is a package. */
  readonly permit?: Permit
  /** Earlier tasks to which the message refers, by the ids that the agent uses. */
  readonly reference_task_ids?: readonly string[]
  /** The conversation to which a new task belongs, with the id that the agent uses. */
  readonly context_id?: string
  /** Tells that the agent has spoken: its time limit starts anew. `emit` tells it too. */
  onActivity(): void
  /** Tells that the agent has begun a task of its own, on which it may work for long. */
  onTask?(): void
  /** Resolves when the caller can receive more. */
  emit(update: Update, content?: Content): Promise<void>
}

/** A question of a server of MCP to its client: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface Question {
  readonly method: string
  readonly params: JsonObject
}

/** Asks the caller a question; resolves to the answer. */
export type AskCaller = (question: Question) => Promise<JsonObject>

/** The call of a caller who may be asked whether a package runs. */
interface PermitCall {
  /** Aborts when the call is over: nobody answers a question then. */
  readonly signal: AbortSignal
  /** Absent where nobody can be asked. */
  readonly ask?: AskCaller | undefined
  /** Tells the caller what they wait for. */
  progress(text: string): void
}

/**
 * Decides whether the package of an agent may run for a caller. Throws Failure `approval_required` and `not_callable`.
 */
export type Permit = (call: PermitCall) => Eventual<Launch>

/** How the package of an agent is started for one caller. */
export interface Launch {
  /** Callers with the same key may share a process. */
  readonly key: string
  start(signal: AbortSignal): Promise<ServerProcess>
  /** Called with what a started process states, if nobody has read it yet. */
  readonly onDescribed?: ((statement: ServerStatement) => void) | undefined
}

/** A process that speaks MCP over its standard streams. Disposing it ends it and all that it started. */
export interface ServerProcess extends AsyncDisposable {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Never rejects. */
  readonly exited: Promise<{
    readonly code: number | null
    readonly signal: string | null
    readonly reason: string
  }>
  /** The last lines of standard error, without secrets. */
  stderrTail(): string
}

/** The action of a call that describes a package whose caller may be asked first: no tool has a name with a space. */
export const descriptionCall = 'list capabilities'

/** The answer of an MCP server to one request, as the server wrote it. */
export type McpReply = { readonly result: JsonObject } | { readonly error: RpcError }

/** A refusal of one call, which does not count against the agent. */
export interface Refused {
  readonly refused: Failure
}

/** A task of a remote agent, with the ids that the agent uses. */
export interface RemoteTask {
  readonly task_id: string
  readonly context_id?: string
}

/**
 * The output; a task with a question that the caller must answer before the task continues; or a refusal.
 */
export type RemoteAnswer =
  | { readonly output: Json; readonly content?: Content }
  | {
      readonly task: RemoteTask
      readonly question: Json | null
      /** What the agent waits for; `input_required` when absent. */
      readonly status?: InputRequired['status']
      readonly content?: Content
    }
  | Refused

/**
 * One remote agent, whatever its protocol. An adapter only implements the protocol: time-outs, circuit, limits and
 * retries are added around this interface once. Every method throws Failure.
 */
export interface RemoteAgent extends AsyncDisposable {
  /** Throws `upstream_timeout`, `upstream_failed`, `upstream_invalid` and `blocked_address`, which count against the agent. */
  call(action: string, params: JsonObject, call: RemoteCall): Promise<RemoteAnswer>
  /**
   * Resolves if the agent answers in its protocol, even with an error about the request; resolves to the refusal if
   * the agent refused. Has no side effects.
   */
  probe(call: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined>
  /** Cancels a task; resolves to the refusal if the agent refused. For A2A agents. */
  cancel?(task: RemoteTask, call: Pick<RemoteCall, 'signal' | 'headers'>): Promise<Failure | undefined>
  /** The agent's own list of capabilities, in protocols that have one. */
  describe?(call: RemoteCall): Promise<readonly Capability[]>
  /** What the server states about itself to everybody, cut at bounds; for MCP servers. */
  read?(call: Pick<RemoteCall, 'signal' | 'headers' | 'permit'>): Promise<ServerStatement>
  /** Passes one request of MCP on, and the answer back, as they are; for MCP servers. */
  request?(method: string, params: JsonObject, call: RemoteCall): Promise<McpReply | Refused>
  /**
   * Subscribes to changes (SubscriptionFilter of MCP): notifications go to `notifyClient`, the acknowledgement first.
   * Resolves when the server ends the subscription; for MCP servers.
   */
  listen?(filter: JsonObject, call: RemoteCall): Promise<void>
}

/** The facts about a listed agent that an adapter uses. */
export interface RemoteFacts {
  readonly package_name: string
  /** The agent's own name, to which envelopes are addressed. */
  readonly address: string
  /** Its card, written by the publisher or rendered by the registry. */
  readonly card: Readonly<Record<string, unknown>>
}

/** Creates the adapter for an endpoint; undefined for an unsupported protocol. Connecting sends nothing. */
export type Connect = (endpoint: Endpoint, agent: RemoteFacts) => RemoteAgent | undefined
