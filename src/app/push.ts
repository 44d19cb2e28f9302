import { Failure } from '../../schemas/failure.ts'
import type { Standing } from '../auth/standing.ts'
import type { Vault } from '../auth/vault.ts'
import { principalOf } from '../common/principal-key.ts'
import { retryDelay } from '../registry/webhooks/schedule.ts'
import { signedBy } from '../registry/webhooks/signature.ts'
import type { PushPort } from '../transports/a2a/tasks/push.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

const timeout_ms = 10_000
const maxBytes = 64 * 1024
const gone = 410

/** Push notifications of A2A leave as webhooks do: to public addresses, signed, and retried ever more slowly. */
export function openPush(
  { options, clock, wait }: Runtime,
  { public: { fetch, check } }: Outbound,
  vault: Vault,
  { revoked }: Pick<Standing, 'revoked'>,
): PushPort {
  const { random = Math.random } = options.changes ?? {}
  return {
    check,
    seal: vault.seal,
    open: vault.open,
    isRevoked: ({ owner, credential }) =>
      credential !== undefined && revoked({ ...principalOf(owner), credential }),
    wait: (attempt, signal) => wait(retryDelay(attempt - 1, random()), signal),
    async post({ id, url, headers, body, key, signal }) {
      const at = Math.floor(clock() / 1000)
      const signature = key === undefined ? {} : signedBy(Buffer.from(key), id, at, body)
      try {
        const { status } = await fetch({
          url,
          method: 'POST',
          headers: { ...headers, ...signature },
          body,
          signal,
          refuse_redirects: true,
          max_bytes: maxBytes,
          timeout_ms,
        })
        return status === gone ? 'gone' : status >= 200 && status < 300 ? 'done' : 'failed'
      } catch (thrown) {
        if (signal.aborted || !(thrown instanceof Failure)) throw thrown
        return thrown.code === 'blocked_address' ? 'gone' : 'failed'
      }
    },
  }
}
