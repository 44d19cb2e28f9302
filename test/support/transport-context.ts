import type { Agent } from '../../schemas/action.ts'
import type { Door } from '../../src/transports/shared/transport-context.ts'
import { routerOver } from './router.ts'

/** What a transport is a view of, over these agents alone; nobody has a token. */
export function doorOver(agents: readonly Agent[]): Door {
  return {
    ...routerOver(agents),
    agents,
    authenticate: () => Promise.reject(new Error('Nobody has a token here.')),
    trusted_proxies: [],
    site: () => ({ base_url: 'https://registry.test' }),
    onListed: () => () => {},
    failed: () => {},
  }
}
