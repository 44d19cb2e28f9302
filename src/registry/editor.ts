import type { State, VerificationLevel } from '../../schemas/entry.ts'
import { Failure } from '../../schemas/failure.ts'
import { PackageName } from '../../schemas/names.ts'
import type { Change, Publication } from '../../schemas/publication.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Store, StoredEntry, Writer } from '../store/store.ts'
import { cardName } from './listing.ts'
import type { Manifest } from './manifest.ts'
import {
  assertMayChange,
  assertMayCreate,
  assertTags,
  coveringNamespace,
  namespacesOver,
  owns,
} from './permissions.ts'
import { toReference } from './reference.ts'

/** What the registry writes on behalf of owners. Every function answers with the entry as committed. */
export interface Editor {
  publish(publication: Publication, caller: Principal | null, signal: AbortSignal): Promise<Committed>
  update(change: Change, publication: Publication, caller: Principal | null): Promise<Committed>
  move(change: Change, from: State, to: State, caller: Principal | null): Promise<Committed>
  remove(change: Change, caller: Principal | null): Promise<Committed>
}

export interface Committed {
  readonly id: string
  readonly revision: number
}

export interface EditorOptions {
  readonly store: Store
  readonly clock: () => number
  /** A new UUIDv7. */
  readonly createId: () => string
  /** Reads the card at a URL. Throws Failure. */
  readonly readManifest: (url: string, signal: AbortSignal) => Promise<Manifest>
}

export function createEditor({ store, clock, createId, readManifest }: EditorOptions): Editor {
  const now = () => new Date(clock()).toISOString()

  async function commit(work: (writer: Writer) => Promise<StoredEntry>): Promise<Committed> {
    const { result, revision } = await store.write(async (writer) => {
      const entry = await work(writer)
      await writer.put(entry)
      return entry
    })
    return { id: result.id, revision }
  }

  async function publish(
    publication: Publication,
    caller: Principal | null,
    signal: AbortSignal,
  ): Promise<Committed> {
    const principal = signedIn(caller)
    const lacking = publication.name === undefined || publication.description === undefined
    const manifest =
      lacking && publication.manifest_url ? await readManifest(publication.manifest_url, signal) : undefined
    const facts = complete({ ...manifest, ...stated(publication) })
    assertTags(principal, facts.tags)
    return await commit(async (writer) => {
      const claimed = await writer.claimedNamespaces(namespacesOver(facts.package_name))
      assertMayCreate(principal, facts.package_name, claimed)
      const taken = await writer.entry({ package_name: facts.package_name })
      assertFree(taken, facts.package_name, principal)
      const at = now()
      return {
        ...facts,
        id: taken?.id ?? createId(),
        state: 'STAGE',
        verification_level: 'unverified' satisfies VerificationLevel,
        owner: {
          issuer: principal.issuer,
          subject: principal.subject,
          namespace: coveringNamespace(principal, facts.package_name),
        },
        hosted: false,
        source_url: null,
        created_at: at,
        updated_at: at,
        deleted: false,
        revision: 0,
      }
    })
  }

  async function change(
    { agent, expected_revision }: Change,
    caller: Principal | null,
    edit: (entry: StoredEntry) => StoredEntry,
  ): Promise<Committed> {
    const principal = signedIn(caller)
    return await commit(async (writer) => {
      const entry = await writer.entry(toReference(agent))
      assertMayChange(principal, entry, agent)
      assertRevision(entry, expected_revision)
      return { ...edit(entry), updated_at: now() }
    })
  }

  return {
    publish,
    update: (asked, publication, caller) =>
      change(asked, caller, (entry) => {
        assertSameName(entry, publication.package_name)
        if (publication.tags) assertNewTags(signedIn(caller), publication.tags, entry.tags)
        return { ...entry, ...cardAfter(entry, publication), ...stated(publication) }
      }),
    move: (asked, from, to, caller) =>
      change(asked, caller, (entry) => {
        if (entry.state === from) return { ...entry, state: to }
        throw new Failure('wrong_state', `${entry.package_name} is ${entry.state}; this needs ${from}.`)
      }),
    remove: (asked, caller) => change(asked, caller, (entry) => ({ ...entry, deleted: true })),
  }
}

function signedIn(caller: Principal | null): Principal {
  if (caller) return caller
  throw new Failure('unauthenticated', 'This needs a bearer token.')
}

type Facts = Omit<
  StoredEntry,
  | 'id'
  | 'state'
  | 'verification_level'
  | 'owner'
  | 'hosted'
  | 'source_url'
  | 'created_at'
  | 'updated_at'
  | 'deleted'
  | 'revision'
>

/** The fields that are there. */
function stated<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/** What a new entry must state, itself or by its manifest. Throws Failure `invalid_request` naming each lack. */
function complete(facts: Partial<Facts>): Facts {
  const { name, description, capabilities, endpoints, manifest_url } = facts
  const package_name = facts.package_name ?? derivedFrom(manifest_url, name)
  const lacks = [
    ...(package_name === undefined ? ['package_name'] : []),
    ...(name === undefined ? ['name'] : []),
    ...(description === undefined ? ['description'] : []),
    ...(!manifest_url && !capabilities?.length && !endpoints?.length ? ['capabilities'] : []),
  ]
  if (lacks.length > 0 || package_name === undefined || name === undefined || description === undefined) {
    throw new Failure('invalid_request', `A new agent needs ${lacks.join(', ')}.`, {
      errors: lacks.map((field) => ({ pointer: `/${field}`, detail: 'This field is required.' })),
      hint: 'Give manifest_url, or name, description and capabilities or endpoints.',
    })
  }
  return {
    package_name,
    name,
    description,
    manifest_url: manifest_url ?? null,
    tags: facts.tags ?? [],
    category: facts.category ?? null,
    target: facts.target ?? null,
    version: facts.version ?? null,
    capabilities: capabilities ?? [],
    endpoints: endpoints ?? [],
    packages: facts.packages ?? [],
    card: facts.card ?? null,
  }
}

function derivedFrom(manifestUrl: string | null | undefined, name: string | undefined): string | undefined {
  if (!manifestUrl || name === undefined) return undefined
  return PackageName.safeParse(cardName(manifestUrl, name)).data
}

/** A name is taken by any entry, in STAGE too; a deleted one keeps it for its owner. */
function assertFree(taken: StoredEntry | undefined, packageName: string, principal: Principal): void {
  if (!taken || (taken.deleted && (!taken.owner || owns(principal, taken)))) return
  throw new Failure('conflict', `The name ${packageName} is taken.`, {
    errors: [{ pointer: '/package_name', detail: 'Choose another name.' }],
  })
}

function assertRevision(entry: StoredEntry, expected: number | undefined): void {
  if (expected === undefined || expected === entry.revision) return
  throw new Failure('precondition_failed', `${entry.package_name} is at revision ${entry.revision}.`, {
    hint: 'Read it again and decide anew.',
  })
}

/** The card of one address is not the card of another. */
function cardAfter(entry: StoredEntry, { manifest_url }: Publication): { card?: null } {
  return manifest_url === undefined || manifest_url === entry.manifest_url ? {} : { card: null }
}

function assertSameName(entry: StoredEntry, packageName: string | undefined): void {
  if (packageName === undefined || packageName === entry.package_name) return
  throw new Failure('conflict', 'A name cannot be changed.', {
    errors: [{ pointer: '/package_name', detail: `It is ${entry.package_name}.` }],
  })
}

function assertNewTags(principal: Principal, tags: readonly string[], before: readonly string[]): void {
  assertTags(
    principal,
    tags.filter((tag) => !before.includes(tag)),
  )
}
