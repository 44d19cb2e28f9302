import { Failure } from '../../../schemas/failure.ts'
import { localIssuer } from '../../../schemas/identity.ts'
import type {
  DeletedPersonalData,
  PersonalDataDeletion,
  PersonalDataPage,
  PersonalDataRange,
} from '../../../schemas/personal-data.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { isSamePrincipal, principalKey } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { Editor } from '../entry/editor.ts'
import { isAdmin } from '../entry/permissions.ts'
import { decodePosition, encodePosition, numberIn } from '../queries/cursor.ts'

interface PersonalDataOptions {
  readonly store: Store
  readonly editor: Pick<Editor, 'remove'>
  /** A random id. */
  readonly createId: () => string
  /** Ends and removes what a principal key has beside the store: sign-ins to listed agents, files of packages. */
  readonly onDeparture: (owner: string) => Promise<void>
}

const maxPageCharacters = 512 * 1024
const maxPageRows = 50

/** The data that the registry stores of a person: a copy of it, and its deletion. */
export function createPersonalData({ store, editor, createId, onDeparture }: PersonalDataOptions) {
  return {
    /** One page of the rows of one table. */
    async personalData(range: PersonalDataRange, caller: Principal): Promise<PersonalDataPage> {
      const { table, cursor } = range
      const owner = ownerOf(range, caller)
      const question = ['personal', owner, table]
      const first = cursor === undefined ? 0 : numberIn(decodePosition(cursor, question).id)
      const { rows, total } = await store.personalData.find(owner, table, first, maxPageRows)
      const page: object[] = []
      let characters = 0
      for (const row of rows) {
        characters += JSON.stringify(row).length
        if (page.length > 0 && characters > maxPageCharacters) break
        page.push(row)
      }
      const next = first + page.length
      return {
        table,
        rows: page as PersonalDataPage['rows'],
        total,
        next_cursor: next < total ? encodePosition({ key: 'row', id: String(next) }, question) : null,
      }
    },

    /** Deletes the entries of the person, then everything else; the logs keep a pseudonym. */
    async deletePersonalData(request: PersonalDataDeletion, caller: Principal): Promise<DeletedPersonalData> {
      const owner = ownerOf(request, caller)
      const pseudonym = { issuer: 'urn:dragoman:deleted', subject: createId() }
      const entries = await store.read.entries(await store.personalData.entryIds(owner))
      const living = entries.filter(({ deleted, hosted }) => !deleted && !hosted)
      await Promise.all(living.map(({ id }) => editor.remove({ agent: id }, caller)))
      await onDeparture(principalKey(owner))
      await store.personalData.forget(owner, pseudonym)
      return { pseudonym: pseudonym.subject, deleted_agents: living.length }
    },
  }
}

function ownerOf({ subject, issuer }: Pick<PersonalDataRange, 'subject' | 'issuer'>, caller: Principal) {
  if (caller.confined_to !== undefined) {
    throw new Failure('forbidden', 'A playground session has no personal data.')
  }
  if (subject === undefined) return { issuer: caller.issuer, subject: caller.subject }
  const owner = { issuer: issuer ?? localIssuer, subject }
  if (isAdmin(caller) || isSamePrincipal(owner, caller)) return owner
  throw new Failure('forbidden', 'Only an admin may see or delete the data of others.', { scope: 'admin' })
}
