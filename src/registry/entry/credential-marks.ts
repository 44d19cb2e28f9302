import type { CredentialStore } from '../../../schemas/credential.ts'
import type { Entry } from '../../../schemas/entry.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'

/** Shows callers for which agents they have stored a credential. */
export interface CredentialMarks {
  /** The entries, those of agents that ask for a credential with whether the caller has stored one. */
  mark<Shown extends Entry>(entries: readonly Shown[], caller: Principal | null): Promise<readonly Shown[]>
  /** True if the caller has stored any credential. */
  hasStored(caller: Principal): Promise<boolean>
}

export const noCredentialMarks: CredentialMarks = {
  mark: async (entries) => entries,
  hasStored: async () => false,
}

export function createCredentialMarks(store: Pick<CredentialStore, 'list'>): CredentialMarks {
  return {
    async mark(entries, caller) {
      if (!caller || !entries.some(asksForCredential)) return entries
      const rows = await store.list(principalKey(caller))
      const stored = new Set(rows.map((row) => row.entry_id))
      return entries.map((entry) =>
        asksForCredential(entry) ? { ...entry, credential_stored: stored.has(entry.id) } : entry,
      )
    },
    hasStored: async (caller) => (await store.list(principalKey(caller))).length > 0,
  }
}

export function asksForCredential({ callable }: Pick<Entry, 'callable'>): boolean {
  return callable === 'needs_key' || callable === 'needs_sign_in'
}
