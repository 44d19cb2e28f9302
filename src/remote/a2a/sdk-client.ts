import type { AgentCard, StreamResponse } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { Failure } from '../../../schemas/failure.ts'
import { textOf } from '../refusal.ts'
import { type A2aClient, type AgentInterface, type RequestOptions, sendRequest } from './client.ts'

/** The SDK converts our request too. */
const ownFault = /v1\.0/

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
  /** What the SDK throws; its error for an answer that it cannot convert is that of refused params. */
  function explained(thrown: unknown): unknown {
    if (agentInterface.binding !== 'JSONRPC' || !(thrown instanceof Error)) return thrown
    const isConversion = thrown.name === 'RequestMalformedError' && !('envelopeCode' in thrown)
    if (!isConversion || ownFault.test(thrown.message)) return thrown
    const message = `The agent sent what A2A 0.3 does not allow: ${textOf(thrown.message)}`
    return new Failure('upstream_invalid', message, {}, thrown)
  }
  async function* asJson(events: AsyncIterable<unknown>): AsyncGenerator<object> {
    try {
      for await (const event of events) yield sdk.StreamResponse.toJSON(event as StreamResponse) as object
    } catch (thrown) {
      throw explained(thrown)
    }
  }
  return {
    send(outgoing, options) {
      const request = sdk.SendMessageRequest.fromJSON(sendRequest(outgoing, agentInterface, createId))
      return asJson(client.sendMessageStream(request, optionsOf(options)))
    },
    async task(id, options) {
      const request = sdk.GetTaskRequest.fromJSON({ id, historyLength: 0 })
      try {
        return sdk.Task.toJSON(await client.getTask(request, optionsOf(options)))
      } catch (thrown) {
        throw explained(thrown)
      }
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
