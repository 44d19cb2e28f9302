import type { CredentialStore } from '../../../schemas/credential.ts'
import type { Entry } from '../../../schemas/entry.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { principalKey } from '../../common/principal-key.ts'

/** Entries as shown to a caller, with whether the caller has stored a credential where the agent asks for one. */
export type MarkCredentials = <Shown extends Entry>(
  entries: readonly Shown[],
  caller: Principal | null,
) => Promise<readonly Shown[]>

export function createCredentialMarks(store: Pick<CredentialStore, 'list'>): MarkCredentials {
  return async (entries, caller) => {
    if (!caller || !entries.some(asks)) return entries
    const rows = await store.list(principalKey(caller))
    const stored = new Set(rows.map((row) => row.entry_id))
    return entries.map((entry) =>
      asks(entry) ? { ...entry, credential_stored: stored.has(entry.id) } : entry,
    )
  }
}

function asks({ callable }: Entry): boolean {
  return callable === 'needs_key' || callable === 'needs_sign_in'
}
