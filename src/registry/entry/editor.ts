import type { AuditAction } from '../../../schemas/audit.ts'
import type { State, VerificationLevel } from '../../../schemas/entry-parts.ts'
import { Failure } from '../../../schemas/failure.ts'
import { presentFields } from '../../../schemas/json.ts'
import type { Change, Publication } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Decision, DecisionReads, Store } from '../../store/store.ts'
import { initialEntry, type StoredEntry } from '../../store/stored-entry.ts'
import { readEndpoint } from '../capabilities/reading.ts'
import type { FetchCard } from '../cards/fetch-card.ts'
import { listable } from '../verification/refresh.ts'
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
import {
  assertFilledIn,
  assertSameName,
  complete,
  described,
  isChecked,
  type PublishedFacts,
  updated,
} from './publication.ts'
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

/** The entry that was changed, and the revision of the change. */
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
  /** Resolves once the indexes of this process have applied a revision. */
  readonly applied: (revision: number) => Promise<void>
  /** Limits of what each owner may store; none when absent. */
  readonly quotas?: DefaultLimits
  /** Whether names under a registrable domain need a proof to go live. */
  readonly names: NameMode
  readonly protectedNames: readonly ProtectedName[]
}

/** The registry's writes on behalf of owners. Each returns once searches see it. */
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
    const facts = complete({ ...(fetched && listable(fetched)), ...presentFields(publication) })
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
    facts: PublishedFacts,
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
      stated: Object.keys(presentFields(publication)),
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
    await this.#options.applied(revision)
    return { id: entry.id, package_name: entry.package_name, revision }
  }
}

function signedIn(caller: Principal | null): Principal {
  if (caller) return caller
  throw Failure.needsToken()
}

function assertRevision(entry: StoredEntry, expected: number | undefined): void {
  if (expected === undefined || expected === entry.revision) return
  throw new Failure('precondition_failed', `${entry.package_name} is at revision ${entry.revision}.`, {
    hint: 'Read it again, then repeat the change.',
    revision: entry.revision,
  })
}

function assertNewTags(principal: Principal, tags: readonly string[], before: readonly string[]): void {
  assertTags(
    principal,
    tags.filter((tag) => !before.includes(tag)),
  )
}
