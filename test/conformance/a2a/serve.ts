import { createRouting } from '../../../src/transports/a2a/routing.ts'
import { serveWork } from '../../support/a2a-server.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { scenarioWork } from './scenarios.ts'

/**
 * The product's bindings, tasks and cards before the kit's scenarios. The kit knows no tokens, so who has none is the
 * kit; and it holds a card against 1.0 alone without saying so, so who says no version means 1.0.
 */
export async function serveScenarios(
  home: Pick<TestGateway, 'gateway' | 'token'>,
  port = 0,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { gateway } = home
  const kit = `Bearer ${await home.token('kit', { ttl_s: 24 * 3600 })}`
  const work = scenarioWork(createRouting(gateway).extendedCard)
  const served = await serveWork(
    home,
    work,
    (request) => {
      request.headers.authorization ??= kit
      if (request.url?.endsWith('/agent-card.json')) request.headers['a2a-version'] ??= '1.0'
    },
    port,
  )
  gateway.reachedAt(served.url)
  return { url: `${served.url}/a2a/v1`, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}

/** The kit is one caller that leaves many tasks open. */
const many = { unfinished: 10_000, total: 20_000, characters: 1024 ** 3 }
export const kitTasks = { times: { poll: 50 }, limits: { owner: many, address: many, all: many } }
