import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../../schemas/audit.ts'
import { initialValues, type PublishedField } from '../../../schemas/entry-fields.ts'
import type { State, VerificationLevel } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { PackageName } from '../../../schemas/names.ts'
import { placeholdersIn } from '../../../schemas/placeholders.ts'
import { type Change, missingFields, type Publication } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Decision, DecisionReads, Store } from '../../store/store.ts'
import { initialEntry, type StoredEntry } from '../../store/stored-entry.ts'
import { afterReading } from '../capabilities/reader.ts'
import { readEndpoint } from '../capabilities/reading.ts'
import type { FetchCard, FetchedCard } from '../cards/fetch-card.ts'
import { cardName } from '../import/read-line.ts'
import { asServer, listable, notListable, withCard } from '../verification/refresh.ts'
import { afterMoving } from '../verification/verification-status.ts'
import { assertEntrySize } from './entry-size.ts'
import { flagsOf, type ProtectedName } from './imitation.ts'
import {
  assertDistinct,
  assertFree,
  assertMayCreate,
  assertMayGoLive,
  type NameMode,
  namespacesOver,
} from './name-rules.ts'
import { assertMayChange, assertNotSuspended, assertTags, coveringNamespace } from './permissions.ts'
import { admission, type DefaultLimits } from './quotas.ts'
import { toReference } from './reference.ts'
import { assertNewVersion } from './version-rule.ts'

/** An action and its reason; the caller is the actor. */
type CallerAction = Omit<AuditAction, 'actor'>
export type Edit = (
  entry: StoredEntry,
  principal: Principal,
  at: string,
  reads: DecisionReads,
) => StoredEntry | Promise<StoredEntry>

export interface Committed {
  readonly id: string
  readonly package_name: string
  readonly revision: number
}

export interface EditorOptions {
  readonly store: Store
  readonly clock: () => number
  /** A new UUIDv7. */
  readonly createId: () => string
  readonly fetchCard: FetchCard
  /** Limits of what each owner may store; none when absent. */
  readonly quotas?: DefaultLimits
  /** Whether names under a registrable domain need a proof to go live. */
  readonly names: NameMode
  readonly protectedNames: readonly ProtectedName[]
}

/** The registry's writes on behalf of owners. Each returns the entry as committed. */
export class Editor {
  readonly #options: EditorOptions

  constructor(options: EditorOptions) {
    this.#options = options
  }

  async publish(publication: Publication, caller: Principal | null, signal: AbortSignal): Promise<Committed> {
    const principal = signedIn(caller)
    assertFilledIn(publication)
    const isIncomplete = publication.name === undefined || publication.description === undefined
    const { manifest_url } = publication
    const fetched =
      isIncomplete && manifest_url ? await this.#options.fetchCard(manifest_url, signal) : undefined
    const facts = complete({ ...(fetched && listable(fetched)), ...stated(publication) })
    assertTags(principal, facts.tags)
    return await this.commit({ action: 'publish' }, principal, async (reads) => {
      const { package_name } = facts
      const [claims, taken, lookalikes] = await Promise.all([
        reads.claims(namespacesOver(package_name)),
        reads.entry({ package_name }),
        reads.lookalikes(package_name),
        // `flagsOf` needs them: so they share the round trip of the others.
        reads.verifiedNamesakes(facts.name),
      ])
      assertMayCreate(principal, package_name, claims)
      assertFree(taken, package_name, principal, claims)
      assertDistinct(principal, package_name, lookalikes)
      const entry = this.#newEntry(facts, publication, principal, taken)
      return { before: taken, entry: fetched ? described(entry, fetched) : entry }
    })
  }

  /** Changes an existing entry: `edit` returns the new entry, the same one where nothing changes, or throws. */
  async change(
    { agent, expected_revision }: Change,
    caller: Principal | null,
    action: CallerAction,
    edit: Edit,
    assertMay: typeof assertMayChange = assertMayChange,
  ): Promise<Committed> {
    const principal = signedIn(caller)
    return await this.commit(action, principal, async (reads) => {
      const entry = await reads.entry(toReference(agent))
      assertMay(principal, entry, agent)
      assertRevision(entry, expected_revision)
      const at = this.#now()
      const edited = await edit(entry, principal, at, reads)
      if (edited === entry) return { before: entry, entry }
      const next = { ...edited, updated_at: at }
      await assertNewVersion(reads, entry, next)
      return { before: entry, entry: next }
    })
  }

  async update(change: Change, publication: Publication, caller: Principal | null): Promise<Committed> {
    assertFilledIn(publication)
    return await this.change(change, caller, { action: 'update' }, (entry, principal, at) => {
      assertSameName(entry, publication.package_name)
      if (publication.tags) assertNewTags(principal, publication.tags, entry.tags)
      return updated(entry, publication, at)
    })
  }

  move(change: Change, from: State, to: State, caller: Principal | null): Promise<Committed> {
    const action = to === 'ACTIVE' ? 'go_live' : 'unpublish'
    return this.change(change, caller, { action }, async (entry, principal, at, reads) => {
      assertNotSuspended(entry)
      if (entry.state !== from) {
        throw new Failure('wrong_state', `${entry.package_name} is ${entry.state} already.`, {
          hint:
            to === 'ACTIVE'
              ? 'Everybody sees it. unpublish hides it.'
              : 'Only its owner sees it. go_live lists it.',
        })
      }
      if (to === 'ACTIVE' && this.#options.names === 'proof') {
        assertMayGoLive(principal, entry, await reads.claims(namespacesOver(entry.package_name)))
      }
      // The check that follows flags the agents that imitate the name of a verified one.
      const isVerified = entry.verification_level === 'domain_verified'
      const isDue = isVerified || (to === 'ACTIVE' && readEndpoint(entry) !== undefined)
      return { ...entry, state: to, check_at: isDue ? at : entry.check_at }
    })
  }

  remove(change: Change, caller: Principal | null): Promise<Committed> {
    return this.change(change, caller, { action: 'delete' }, (entry) => ({
      ...entry,
      deleted: true,
      offer: null,
    }))
  }

  #now(): string {
    return new Date(this.#options.clock()).toISOString()
  }

  #newEntry(
    facts: Facts,
    publication: Publication,
    principal: Principal,
    taken: StoredEntry | undefined,
  ): StoredEntry {
    const at = this.#now()
    const { issuer, subject } = principal
    const namespace = coveringNamespace(principal, facts.package_name)
    const entry: StoredEntry = {
      ...initialEntry,
      ...facts,
      stated: Object.keys(stated(publication)),
      check_at: null,
      id: taken?.id ?? this.#options.createId(),
      versions_after: taken?.revision ?? 0,
      state: 'STAGE',
      verification_level: 'unverified' satisfies VerificationLevel,
      owner: { issuer, subject, namespace },
      hosted: false,
      source_url: null,
      created_at: at,
      updated_at: at,
    }
    return { ...entry, check_at: isChecked(entry) ? at : null }
  }

  /** Commits what `decide` decides, with the audit event of the action, within the quotas of the account. */
  async commit(
    action: CallerAction,
    actor: Principal,
    decide: (reads: DecisionReads) => Promise<Pick<Decision, 'before' | 'entry'>>,
  ): Promise<Committed> {
    const { entry, revision } = await this.#options.store.change(async (reads) => {
      const { before, entry } = await decide(reads)
      const audit = { ...action, actor }
      if (entry === before) return { before, entry, audit }
      assertEntrySize(entry, before)
      const content_flags = await flagsOf(entry, reads, this.#options.protectedNames)
      const flagged = { ...entry, content_flags }
      const admit = admission(this.#options.quotas ?? null, actor, entry)
      return { before, entry: flagged, audit, admit }
    })
    return { id: entry.id, package_name: entry.package_name, revision }
  }
}

function signedIn(caller: Principal | null): Principal {
  if (caller) return caller
  throw Failure.needsToken()
}

/** Throws Failure `invalid_request` that names each field which still has the text of `dragoman init`. */
function assertFilledIn(publication: Publication): void {
  const pointers = placeholdersIn(publication)
  if (pointers.length === 0) return
  const fields = pointers.map((pointer) => pointer.slice(1)).join(', ')
  throw new Failure('invalid_request', `These fields are not filled in: ${fields}.`, {
    errors: pointers.map((pointer) => ({ pointer, detail: 'This is the text that `dragoman init` wrote.' })),
    hint: 'Write your own text and address there.',
  })
}

type Facts = Pick<StoredEntry, PublishedField | 'card'>

/** The fields that are present. */
function stated<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> }
}

/**
 * Checks the fields that a new entry or its manifest must state. Throws Failure `invalid_request` that names each
 * missing field.
 */
function complete(facts: { [Name in keyof Facts]?: Exclude<Facts[Name], undefined> }): Facts {
  const { name, description, manifest_url } = facts
  const package_name = facts.package_name ?? derivedFrom(manifest_url, name)
  const lacks = missingFields({ ...facts, package_name })
  if (lacks.length > 0 || package_name === undefined || name === undefined || description === undefined) {
    const isUnnamed = manifest_url && lacks.length === 1 && package_name === undefined
    throw new Failure('invalid_request', `A new agent needs ${lacks.join(', ')}.`, {
      errors: lacks.map((field) => ({ pointer: `/${field}`, detail: 'This field is required.' })),
      hint: isUnnamed
        ? 'The URL of the card names no domain from which a name can be made: state a package_name, such as com.example.weather.'
        : 'Give manifest_url; or a name, a description, and at least one of capabilities, endpoints and packages.',
    })
  }
  return { ...initialValues, card: null, ...facts, package_name, name, description }
}

/** True if a check has something to read: a card, or the tools of an MCP server. */
function isChecked(entry: StoredEntry): boolean {
  return entry.manifest_url !== null || readEndpoint(entry) !== undefined
}

/** A new entry with the content of its manifest. */
function described(entry: StoredEntry, fetched: FetchedCard): StoredEntry {
  const { server } = fetched
  if (!server) return assertListable(withCard(entry, fetched, entry.created_at))
  const answered = { answer: server, kind: 'open' } as const
  return afterReading(asServer(entry, entry.manifest_url), answered, entry.created_at)
}

/** Throws Failure `upstream_invalid` if the entry's card is invalid for its package name. */
function assertListable(entry: StoredEntry): StoredEntry {
  if (entry.manifest?.status !== 'invalid') return entry
  throw notListable(entry.manifest.findings)
}

function derivedFrom(manifestUrl: string | null | undefined, name: string | undefined): string | undefined {
  if (!manifestUrl || name === undefined) return undefined
  return PackageName.safeParse(cardName(manifestUrl, name)).data
}

function assertRevision(entry: StoredEntry, expected: number | undefined): void {
  if (expected === undefined || expected === entry.revision) return
  throw new Failure('precondition_failed', `${entry.package_name} is at revision ${entry.revision}.`, {
    hint: 'Read it again, then repeat the change.',
    revision: entry.revision,
  })
}

/**
 * A stated field takes precedence over the manifest from now on. A new manifest URL discards the card of the old one.
 * Returns the same entry if it states all of the publication already.
 */
function updated(entry: StoredEntry, publication: Publication, at: string): StoredEntry {
  const { capabilities, ...others } = stated(publication)
  // An empty list asks to follow the server, which an entry that does so is not asked twice.
  const isFollowing = capabilities?.length === 0 && entry.reading?.lists === true
  const values = { ...others, ...(capabilities && !isFollowing && { capabilities }) }
  // The source of an unowned entry states all fields except those that an admin corrects.
  const before = entry.stated ?? (entry.owner ? null : [])
  const statedFields = before && [...new Set([...before, ...Object.keys(values)])]
  const statesNoMore = entry.owner !== null && statedFields?.length === before?.length
  if (statesNoMore && isDeepStrictEqual({ ...entry, ...values }, entry)) return entry
  const { manifest_url } = values
  const moves = manifest_url !== undefined && manifest_url !== entry.manifest_url
  const unread = { card: null, card_sha256: null, manifest: null, signature: null, check_at: at }
  // The document of an agent with an owner no longer says what its owner states.
  const server = entry.owner === null ? entry.server : null
  const next = { ...entry, ...(moves && unread), ...values, server, stated: statedFields }
  return withNewEndpoint(entry, moves ? afterMoving(next) : next, at)
}

/** What the owner states replaces what was read; a server at a new address is read at once. */
export function withNewEndpoint(before: StoredEntry, after: StoredEntry, at: string): StoredEntry {
  const { capabilities, reading } = after
  const isStated = capabilities !== before.capabilities && capabilities.length > 0
  const next = { ...after, reading: reading && { ...reading, lists: reading.lists && !isStated } }
  if (isDeepStrictEqual(before.endpoints, after.endpoints) && capabilities === before.capabilities)
    return next
  const isRead = after.owner !== null && readEndpoint(after) !== undefined
  const isSame = isDeepStrictEqual(before.endpoints, after.endpoints)
  return { ...next, access: isSame ? after.access : null, check_at: isRead ? at : after.check_at }
}

function assertSameName(entry: StoredEntry, packageName: string | undefined): void {
  if (packageName === undefined || packageName === entry.package_name) return
  throw new Failure('conflict', 'A name cannot be changed.', {
    errors: [{ pointer: '/package_name', detail: `It is ${entry.package_name}.` }],
    hint: 'Publish it under the new name, then deprecate this entry with that name as its successor.',
  })
}

function assertNewTags(principal: Principal, tags: readonly string[], before: readonly string[]): void {
  assertTags(
    principal,
    tags.filter((tag) => !before.includes(tag)),
  )
}
