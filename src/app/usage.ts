import { defaultLimits } from '../../agents/playground/sessions.ts'
import { maxKeys } from '../auth/api-keys.ts'
import { principalKey } from '../common/principal-key.ts'
import { quotaState } from '../registry/entry/quotas.ts'
import { createUsageService, type UsageService } from '../registry/entry/usage.ts'
import { maxWebhooks } from '../registry/webhooks/webhooks.ts'
import type { Store } from '../store/store.ts'
import type { Runtime } from './runtime.ts'

/** The usage of owners, with the quotas of keys, webhooks and sessions. */
export function openUsage({ config, options, clock, log }: Runtime, store: Store): UsageService {
  const maxSessions = (options.sessions?.limits?.owner ?? defaultLimits.owner).sessions
  return createUsageService({
    store: store.usage,
    limits: config.DRAGOMAN_QUOTAS,
    async others(owner) {
      const key = principalKey(owner)
      const [keys, webhooks, sessions] = await Promise.all([
        store.identity.keys(owner),
        store.webhooks.list(key),
        store.sessions.count(key),
      ])
      const valid = keys.filter(({ expires_at }) => expires_at > clock())
      return [
        quotaState('api_keys', 'API keys.', valid.length, maxKeys),
        quotaState('webhooks', 'Webhooks.', webhooks.length, maxWebhooks),
        quotaState('playground_sessions', 'Playground sessions.', sessions, maxSessions),
      ]
    },
    onSet: (set) => log.info(set, 'quota set'),
  })
}
