import type { AgentCard, StreamResponse } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import type { JsonObject } from '../../../schemas/json.ts'

/** An interface of an agent as in a card of A2A 1.0. */
export interface AgentInterface {
  readonly url: string
  readonly binding: string
  readonly version: '1.0' | '0.3'
  readonly tenant?: string | undefined
  readonly streaming: boolean
}

export interface OutgoingMessage {
  /** The fields of the message but its ids of task and context. A message without an id gets one. */
  readonly message: JsonObject
  readonly task_id?: string | undefined
  readonly context_id?: string | undefined
  /** Metadata of the request. */
  readonly metadata?: JsonObject
  readonly accepted_output_modes?: readonly string[]
  /** An agent that does not stream answers with the task as soon as there is one. */
  readonly returns_immediately: boolean
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly headers: Readonly<Record<string, string>>
}

/** The SDK's client with ProtoJSON in and out. */
export interface A2aClient {
  /**
   * Events `{task}`, `{message}`, `{statusUpdate}` and `{artifactUpdate}`; only one event if the agent does not
   * stream.
   */
  send(message: OutgoingMessage, options: RequestOptions): AsyncIterable<object>
  task(id: string, options: RequestOptions): Promise<unknown>
  cancel(id: string, options: RequestOptions): Promise<void>
}

const usualModes = ['application/json', 'text/plain', '*/*']

/** Loads the SDK with the first call, which keeps the start of the gateway fast. */
export async function createA2aClient(
  agentInterface: AgentInterface,
  fetchImpl: typeof fetch,
  createId: () => string,
): Promise<A2aClient> {
  const [sdk, { ClientFactory, JsonRpcTransportFactory, RestTransportFactory }] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/client'),
  ])
  const legacyCompat = { enabled: true }
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
  })
  const client: Client = await factory.createFromAgentCard(cardOf(agentInterface, sdk.AgentCard))
  const optionsOf = ({ signal, headers }: RequestOptions) => ({ signal, serviceParameters: { ...headers } })
  return {
    async *send(outgoing, options) {
      const { message, task_id, context_id, metadata, accepted_output_modes, returns_immediately } = outgoing
      const { taskId: _, contextId: __, ...fields } = message
      const request = sdk.SendMessageRequest.fromJSON({
        message: {
          messageId: createId(),
          role: 'ROLE_USER',
          ...fields,
          ...(task_id !== undefined && { taskId: task_id }),
          ...(context_id !== undefined && { contextId: context_id }),
        },
        configuration: {
          acceptedOutputModes: accepted_output_modes ?? usualModes,
          historyLength: 0,
          ...(returns_immediately && !agentInterface.streaming && { returnImmediately: true }),
        },
        ...(metadata && { metadata }),
      })
      for await (const event of client.sendMessageStream(request, optionsOf(options))) {
        yield sdk.StreamResponse.toJSON(event as StreamResponse) as object
      }
    },
    async task(id, options) {
      const request = sdk.GetTaskRequest.fromJSON({ id, historyLength: 0 })
      return sdk.Task.toJSON(await client.getTask(request, optionsOf(options)))
    },
    async cancel(id, options) {
      await client.cancelTask(sdk.CancelTaskRequest.fromJSON({ id }), optionsOf(options))
    },
  }
}

function cardOf(
  { url, binding, version, tenant, streaming }: AgentInterface,
  { fromJSON }: { fromJSON(json: object): AgentCard },
): AgentCard {
  return fromJSON({
    name: 'remote',
    supportedInterfaces: [
      { url, protocolBinding: binding, protocolVersion: version, ...(tenant && { tenant }) },
    ],
    capabilities: { streaming },
  })
}
