import { Failure } from '../../../schemas/failure.ts'
import type { Login, LoginState, Person } from '../logins/login.ts'
import type { Records } from './records.ts'

interface Pending {
  readonly login: string
  readonly callback: string
  readonly state: LoginState
  readonly interaction: string | null
}

interface PendingLoginsOptions {
  readonly logins: readonly Login[]
  readonly records: Records
  readonly clock: () => number
  readonly random: (bytes: number) => Uint8Array
}

/** Logins at other issuers that are in progress, each bound to one browser by a secret in a cookie. */
export interface PendingLogins {
  /** Returns the address of the issuer and the secret. `interaction` is the request that waits for the login. */
  begin(id: string, callback: string, interaction: string | null): Promise<{ url: string; secret: string }>
  /** Throws Failure `unauthenticated` if this browser began no such login. Each login ends once. */
  finish(
    id: string,
    returned: URL,
    secret: string | undefined,
    signal: AbortSignal,
  ): Promise<{ person: Person; interaction: string | null }>
}

export const loginMilliseconds = 600_000

export function createPendingLogins({ logins, records, clock, random }: PendingLoginsOptions): PendingLogins {
  function loginOf(id: string): Login {
    const login = logins.find((candidate) => candidate.id === id)
    if (login) return login
    throw new Failure('not_found', 'There is no such login here.')
  }

  return {
    async begin(id, callback, interaction) {
      const { url, state } = await loginOf(id).begin(callback)
      const secret = Buffer.from(random(32)).toString('base64url')
      const pending: Pending = { login: id, callback, state, interaction }
      await records.put('PendingLogin', secret, pending, { expires_at: clock() + loginMilliseconds })
      return { url, secret }
    },
    async finish(id, returned, secret, signal) {
      const login = loginOf(id)
      const pending = secret === undefined ? undefined : await records.take<Pending>('PendingLogin', secret)
      if (pending?.login !== id) {
        throw new Failure(
          'unauthenticated',
          'This browser has not begun this sign-in, or it took too long.',
          {
            hint: 'Start again.',
          },
        )
      }
      const { callback, state, interaction } = pending
      const person = await login.finish(callback, returned, state, signal)
      if (person.issuer !== login.issuer) {
        throw new Failure('unauthenticated', 'The login answered for another issuer.')
      }
      return { person, interaction }
    },
  }
}
