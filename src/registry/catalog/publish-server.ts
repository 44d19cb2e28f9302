import { derivedName } from '../../../schemas/derived-name.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Decision, DecisionReads, Store } from '../../store/store.ts'
import { initialEntry, type StoredEntry } from '../../store/stored-entry.ts'
import { readEndpoint } from '../capabilities/reading.ts'
import type { Editor, EditorOptions } from '../entry/editor.ts'
import {
  assertDistinct,
  assertFree,
  assertMayCreate,
  assertMayGoLive,
  namespacesOver,
} from '../entry/name-rules.ts'
import { assertMayChange, assertNotSuspended, coveringNamespace } from '../entry/permissions.ts'
import { withNewEndpoint } from '../entry/publication.ts'
import { assertNewVersion } from '../entry/version-rule.ts'
import { type Documented, fieldsOf, type ServerDocument } from './server-json.ts'
import { publishableServer } from './validate-server.ts'

type Options = Pick<EditorOptions, 'clock' | 'createId' | 'names'> & {
  readonly store: Pick<Store, 'servers'>
  readonly editor: Pick<Editor, 'commit'>
}

type Next = Pick<Decision, 'before' | 'entry'>

/**
 * Publishes a version of a server by its server.json, live at once, by the rules of publish, update and go_live. A name
 * that a mirror lists goes to its first publisher whose token covers it.
 */
export function createPublishServer({ store, editor, clock, createId, names }: Options) {
  return async function publishServer(
    value: unknown,
    principal: Principal,
  ): Promise<Pick<ServerDocument, 'name' | 'version'>> {
    const document = publishableServer(value)
    const { name, version } = document
    const package_name = derivedName(name)
    const [latest, same] = await Promise.all([
      store.servers.find(name, 'latest', true),
      store.servers.find(name, version, true),
    ])
    if (same) {
      throw new Failure('conflict', `${name} ${version} already exists.`, {
        hint: 'A published version is immutable: give the change a new version.',
      })
    }
    if (!latest && package_name !== name) {
      throw new Failure('invalid_request', `The name ${name} cannot be listed here.`, {
        errors: [{ pointer: '/server/name', detail: `Use lower-case letters: ${package_name}` }],
      })
    }
    const stated = { ...fieldsOf(document), server: document }
    const reference = latest ? { id: latest.entry_id } : { package_name }
    await editor.commit({ action: 'publish' }, principal, async (reads) => {
      const before = await reads.entry(reference)
      const at = new Date(clock()).toISOString()
      const created = { package_name, id: before?.id ?? createId(), at, caller: principal }
      const next =
        before && !before.deleted
          ? nextVersion(before, stated, principal, at)
          : { before, entry: await newEntry(reads, before, stated, created) }
      if (names === 'proof') {
        const claims = await reads.claims(namespacesOver(next.entry.package_name))
        assertMayGoLive(principal, next.entry, claims)
      }
      if (next.before && !next.before.deleted) await assertNewVersion(reads, next.before, next.entry)
      return next
    })
    return { name, version }
  }
}

/** The entry of a server that is not listed here yet; `taken` is a deleted one that had its name. */
async function newEntry(
  reads: DecisionReads,
  taken: StoredEntry | undefined,
  fields: Documented,
  { package_name, id, at, caller }: { package_name: string; id: string; at: string; caller: Principal },
): Promise<StoredEntry> {
  const claims = await reads.claims(namespacesOver(package_name))
  assertMayCreate(caller, package_name, claims)
  assertFree(taken, package_name, caller, claims)
  assertDistinct(caller, package_name, await reads.lookalikes(package_name))
  const entry: StoredEntry = {
    ...initialEntry,
    card: null,
    ...fields,
    package_name,
    stated: Object.keys(fields),
    id,
    versions_after: taken?.revision ?? 0,
    state: 'ACTIVE',
    verification_level: 'unverified',
    owner: ownerFor(caller, package_name),
    hosted: false,
    created_at: at,
    updated_at: at,
  }
  return { ...entry, check_at: readEndpoint(entry) ? at : null }
}

function nextVersion(before: StoredEntry, fields: Documented, principal: Principal, at: string): Next {
  assertMayChange(principal, before, before.package_name)
  assertNotSuspended(before)
  const statedBefore = before.stated ?? (before.owner ? null : [])
  const entry: StoredEntry = {
    ...before,
    ...fields,
    ...(before.owner === null && {
      owner: ownerFor(principal, before.package_name),
      verification_level: 'unverified' as const,
    }),
    stated: statedBefore && [...new Set([...statedBefore, ...Object.keys(fields)])],
    state: 'ACTIVE',
    updated_at: at,
  }
  return { before, entry: withNewEndpoint(before, entry, at) }
}

function ownerFor(principal: Principal, packageName: string): NonNullable<StoredEntry['owner']> {
  const { issuer, subject } = principal
  return { issuer, subject, namespace: coveringNamespace(principal, packageName) }
}
