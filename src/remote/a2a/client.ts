import type { AgentCard, StreamResponse } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import type { JsonObject } from '../../../schemas/json.ts'
import type { Part } from '../../../schemas/task.ts'

/** An interface of an agent as in a card of A2A 1.0. */
export interface AgentInterface {
  readonly url: string
  readonly binding: string
  readonly version: '1.0' | '0.3'
  readonly tenant?: string | undefined
  readonly streaming: boolean
}

export interface OutgoingMessage {
  readonly parts: readonly Part[]
  readonly metadata?: JsonObject
  readonly task_id?: string
  readonly context_id?: string
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
    async *send({ parts, metadata, task_id, context_id }, options) {
      const request = sdk.SendMessageRequest.fromJSON({
        message: {
          messageId: createId(),
          role: 'ROLE_USER',
          parts,
          ...(metadata && { metadata }),
          ...(task_id !== undefined && { taskId: task_id }),
          ...(context_id !== undefined && { contextId: context_id }),
        },
        configuration: { acceptedOutputModes: ['application/json', 'text/plain'], historyLength: 0 },
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
