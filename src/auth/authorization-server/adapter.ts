import { type Adapter, errors, type Payload } from 'oidc-provider'
import { unusedClientMilliseconds } from './lifetimes.ts'
import type { FoundDocument, Records } from './records.ts'

interface AdapterOptions {
  readonly records: Records
  readonly clock: () => number
  /** Ends the access tokens of a grant, which are signed and not stored. */
  readonly endTokens: (grantId: string) => Promise<void>
}

/** The storage of one kind of record of oidc-provider. */
export function createAdapter(kind: string, { records, clock, endTokens }: AdapterOptions): Adapter {
  return {
    async upsert(id, payload, expiresIn) {
      const lifeMilliseconds = expiresIn === undefined ? unusedClientMilliseconds : expiresIn * 1000
      await records.put(kind, id, payload, {
        expires_at: clock() + lifeMilliseconds,
        alias: payload.userCode ?? payload.uid,
        grant_id: payload.grantId,
        owner: payload.accountId,
      })
    },
    find: async (id) => payloadOf(await records.find<Payload>(kind, id)),
    findByUid: async (uid) => payloadOf(await records.findByAlias<Payload>(kind, uid)),
    findByUserCode: async (userCode) => payloadOf(await records.findByAlias<Payload>(kind, userCode)),
    async consume(id) {
      if (await records.consume(kind, id)) return
      // Another request was faster.
      const InvalidGrant = errors.InvalidGrant ?? Error
      throw new InvalidGrant('already consumed')
    },
    destroy: (id) => records.remove(kind, id),
    async revokeByGrantId(grantId) {
      if (kind === 'AccessToken') await endTokens(grantId)
      else await records.removeGrant(grantId)
    },
  }
}

function payloadOf(found: FoundDocument<Payload> | undefined): Payload | undefined {
  if (!found) return undefined
  const { document, consumed_at } = found
  return { ...document, ...(consumed_at !== null && { consumed: Math.floor(consumed_at / 1000) }) }
}
