import type { Agent } from '../../schemas/action.ts'
import { noLimits } from '../../src/router/limiter.ts'
import type { TransportContext } from '../../src/transports/shared/transport-context.ts'
import { lasting, routerOver } from './router.ts'

/** The context of a transport over these agents alone; no token is valid. */
export function transportOver(agents: readonly Agent[]): TransportContext {
  return {
    ...routerOver(agents),
    agents,
    count: async () => {},
    limits: noLimits,
    standing: lasting,
    authenticate: () => Promise.reject(new Error('Nobody has a token here.')),
    trusted_proxies: new Set(),
    site: () => ({ base_url: 'https://registry.test' }),
    onListed: () => () => {},
    onError: () => {},
  }
}
