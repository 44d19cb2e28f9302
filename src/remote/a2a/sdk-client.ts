import type { AgentCard, StreamResponse } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { type A2aClient, type AgentInterface, type RequestOptions, sendRequest } from './client.ts'

/**
 * A client of A2A 0.3, by the official SDK, which is loaded with the first call. It has no subscription: agents on the
 * Python SDK (0.3.26) store each chunk of an artifact once more for every subscriber.
 */
export async function createSdkClient(
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
  async function* asJson(events: AsyncIterable<unknown>): AsyncGenerator<object> {
    for await (const event of events) yield sdk.StreamResponse.toJSON(event as StreamResponse) as object
  }
  return {
    send(outgoing, options) {
      const request = sdk.SendMessageRequest.fromJSON(sendRequest(outgoing, agentInterface, createId))
      return asJson(client.sendMessageStream(request, optionsOf(options)))
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
