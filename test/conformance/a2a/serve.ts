import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { a2aJsonRpcMount } from '../../../src/transports/a2a/json-rpc.ts'
import { a2aRestMounts } from '../../../src/transports/a2a/rest.ts'
import { createRouting } from '../../../src/transports/a2a/routing.ts'
import { createService } from '../../../src/transports/a2a/service.ts'
import { createHttpApp } from '../../../src/transports/http/app.ts'
import { createEtags } from '../../../src/transports/http/etag.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { scenarioWork } from './scenarios.ts'

/**
 * The product's bindings, tasks and cards before the kit's scenarios. The kit knows no tokens, so who has none is the
 * kit; and it holds a card against 1.0 alone without saying so, so who says no version means 1.0.
 */
export async function serveScenarios(
  { gateway, token }: Pick<TestGateway, 'gateway' | 'token'>,
  port = 0,
): Promise<AsyncDisposable & { readonly url: string }> {
  const kit = `Bearer ${await token('kit', { ttl_s: 24 * 3600 })}`
  const perform = createService(gateway, scenarioWork(createRouting(gateway).extendedCard), gateway.desk)
  const app = createHttpApp(gateway, createEtags('kit'), [
    a2aJsonRpcMount(gateway, perform),
    ...a2aRestMounts(gateway, perform),
  ])
  const server = createServer((request, response) => {
    request.headers.authorization ??= kit
    if (request.url?.endsWith('/agent-card.json')) request.headers['a2a-version'] ??= '1.0'
    app(request, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  gateway.reachedAt(url)
  return {
    url: `${url}/a2a/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
