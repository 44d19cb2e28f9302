import { hash } from 'node:crypto'
import type { SignInStore } from '../../../schemas/sign-in.ts'
import type { Vault } from '../vault.ts'

/** A stored document, with the times of its row in milliseconds since the epoch. */
export interface FoundDocument<Document> {
  readonly document: Document
  readonly consumed_at: number | null
}

interface Place {
  readonly expires_at: number
  /** A second name, under which `findByAlias` finds the document. */
  readonly alias?: string | undefined
  readonly grant_id?: string | undefined
  /** The principal key of the person. */
  readonly owner?: string | undefined
}

/** Documents of several kinds, by secret names: the database holds hashes of the names and sealed documents. */
export interface Records {
  put(kind: string, name: string, document: object, place: Place): Promise<void>
  find<Document>(kind: string, name: string): Promise<FoundDocument<Document> | undefined>
  findByAlias<Document>(kind: string, alias: string): Promise<FoundDocument<Document> | undefined>
  /** The document, for the first caller only. */
  take<Document>(kind: string, name: string): Promise<Document | undefined>
  /** False if the document was used before. */
  consume(kind: string, name: string): Promise<boolean>
  extend(kind: string, name: string, expires_at: number): Promise<void>
  remove(kind: string, name: string): Promise<void>
  removeGrant(grant_id: string): Promise<void>
  removeExpiring(kind: string, before: number): Promise<void>
  count(kind: string): Promise<number>
}

/** These documents hold no secret, and a person may read their own. */
const plain = new Set(['Account', 'Client', 'Grant'])

export function createRecords(store: SignInStore, vault: Vault, clock: () => number): Records {
  function read<Document>(
    row: Awaited<ReturnType<SignInStore['find']>>,
  ): FoundDocument<Document> | undefined {
    if (!row) return undefined
    const text = plain.has(row.kind) ? row.document : vault.open(row.document, row.id)
    // Sealed with another secret key: as good as absent.
    if (text === undefined) return undefined
    return { document: JSON.parse(text) as Document, consumed_at: row.consumed_at }
  }

  async function find<Document>(kind: string, name: string): Promise<FoundDocument<Document> | undefined> {
    return read<Document>(await store.find(recordId(kind, name), clock()))
  }

  const consume = (kind: string, name: string) => store.consume(recordId(kind, name), clock())

  return {
    async put(kind, name, document, { expires_at, alias, grant_id = null, owner = null }) {
      const id = recordId(kind, name)
      const text = JSON.stringify(document)
      await store.put({
        id,
        kind,
        alias: alias === undefined ? null : recordId(kind, alias),
        grant_id,
        owner,
        document: plain.has(kind) ? text : vault.seal(text, id),
        consumed_at: null,
        expires_at,
      })
    },
    find,
    findByAlias: async <Document>(kind: string, alias: string) =>
      read<Document>(await store.findByAlias(kind, recordId(kind, alias), clock())),
    async take<Document>(kind: string, name: string) {
      const found = await find<Document>(kind, name)
      return found && (await consume(kind, name)) ? found.document : undefined
    },
    consume,
    extend: (kind, name, expires_at) => store.extend(recordId(kind, name), expires_at),
    remove: (kind, name) => store.remove(recordId(kind, name)),
    removeGrant: (grant_id) => store.removeGrant(grant_id),
    removeExpiring: (kind, before) => store.removeExpiring(kind, before),
    count: (kind) => store.count(kind, clock()),
  }
}

/** Names are random or public, so that a plain hash is enough. */
export function recordId(kind: string, name: string): string {
  return hash('sha256', JSON.stringify([kind, name]), 'base64url')
}
