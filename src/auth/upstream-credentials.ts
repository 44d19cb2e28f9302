import { LRUCache } from 'lru-cache'
import type { EntryDetail } from '../../schemas/card.ts'
import type {
  Credential,
  CredentialInput,
  CredentialStore,
  StoredCredential,
} from '../../schemas/credential.ts'
import { Failure } from '../../schemas/failure.ts'
import type { Principal } from '../../schemas/scope.ts'
import { upTo } from '../common/lru.ts'
import { principalKey } from '../common/principal-key.ts'
import type { Vault } from './vault.ts'

/** Credentials of callers for other agents. The gateway uses a credential when it calls the agent for its caller. */
export interface Credentials {
  set(input: CredentialInput, caller: Principal): Promise<Credential>
  list(caller: Principal): Promise<Credential[]>
  /** Throws Failure `not_found`. */
  remove(agent: string, caller: Principal): Promise<void>
  /** The header fields for a call to an agent at an address; none if the caller stored none for it. */
  headersFor(entryId: string, url: string, caller: Principal): Promise<Readonly<Record<string, string>>>
}

interface CredentialsOptions {
  readonly store: CredentialStore
  readonly vault: Vault
  readonly get: (agent: string, caller: Principal | null) => Promise<EntryDetail>
  readonly namesOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** The address at which an entry is called; undefined if it is not callable. */
  readonly urlOf: (entry: EntryDetail) => string | undefined
  readonly clock: () => number
}

const maxPerOwner = 100
/** Maximum time for which another process may still use a deleted credential, in milliseconds. */
const maxStaleMilliseconds = 2_000
const maxCached = 10_000

export function createCredentials(options: CredentialsOptions): Credentials {
  const { store, vault, get, namesOf, urlOf, clock } = options
  const cache = new LRUCache<string, { readonly until: number; readonly row: StoredCredential | undefined }>(
    upTo(maxCached),
  )

  async function find(owner: string, entryId: string): Promise<StoredCredential | undefined> {
    const key = `${entryId} ${owner}`
    const cached = cache.get(key)
    if (cached && cached.until > clock()) return cached.row
    const row = await store.find(owner, entryId)
    cache.set(key, { until: clock() + maxStaleMilliseconds, row })
    return row
  }

  return {
    async set({ agent, header, value }, caller) {
      const entry = await get(agent, caller)
      const url = urlOf(entry)
      if (url === undefined) {
        throw new Failure(
          'not_callable',
          `${entry.package_name} is not called from here, so it needs no credential.`,
        )
      }
      const { origin } = new URL(url)
      const owner = principalKey(caller)
      const row = { owner, entry_id: entry.id, origin, header, created_at: new Date(clock()).toISOString() }
      const sealed = vault.seal(value, secretBinding(row, url))
      if (!(await store.put({ ...row, sealed }, maxPerOwner))) {
        throw new Failure('conflict', `You have credentials for ${maxPerOwner} agents.`, {
          hint: 'Delete one first.',
        })
      }
      cache.delete(`${entry.id} ${owner}`)
      return { agent: entry.package_name, header, origin, created_at: row.created_at }
    },
    async list(caller) {
      const rows = await store.list(principalKey(caller))
      const names = await namesOf(rows.map((row) => row.entry_id))
      return rows.map(({ entry_id, header, origin, created_at }) => {
        return { agent: names.get(entry_id) ?? entry_id, header, origin, created_at }
      })
    },
    async remove(agent, caller) {
      const owner = principalKey(caller)
      const rows = await store.list(owner)
      const names = await namesOf(rows.map((row) => row.entry_id))
      const row = rows.find(({ entry_id }) => entry_id === agent || names.get(entry_id) === agent)
      if (!row || !(await store.remove(owner, row.entry_id))) {
        throw new Failure('not_found', `You have stored no credential for ${agent}.`)
      }
      cache.delete(`${row.entry_id} ${owner}`)
    },
    async headersFor(entryId, url, caller) {
      const row = await find(principalKey(caller), entryId)
      if (!row || row.origin !== new URL(url).origin) return {}
      const value = vault.open(row.sealed, secretBinding(row, url))
      if (value !== undefined) return { [row.header]: value }
      throw new Failure('not_configured', 'The credential for this agent cannot be decrypted.', {
        hint: 'The address of the agent or the secret key has changed. Store the credential again.',
      })
    },
  }
}

/** Bound to the whole address: agents that share a host do not get each other's credentials. */
function secretBinding({ owner, entry_id, header }: Omit<StoredCredential, 'sealed'>, url: string): string {
  return JSON.stringify([owner, entry_id, new URL(url).href, header])
}
