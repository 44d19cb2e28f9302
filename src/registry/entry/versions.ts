import prerelease from 'semver/functions/prerelease.js'
import satisfies from 'semver/functions/satisfies.js'
import validRange from 'semver/ranges/valid.js'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord, orderedText } from '../../../schemas/json.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { Difference, VersionDiff, VersionPage, WantedVersion } from '../../../schemas/version.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { PublishedVersion, Store, Version, VersionStore } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { decodePosition, encodePosition, numberIn, takePage } from '../queries/cursor.ts'
import type { SearchService } from '../queries/search-service.ts'
import { isVisible, mayRead } from './permissions.ts'
import { toReference, unlisted } from './reference.ts'
import type { Views } from './view.ts'

type Caller = Principal | null

/** Maximum number of versions, highest first, that a range is compared with. */
const maxCompared = 1000
const maxSuggestions = 3
/** Versions of a page whose changes are read: their texts may be long. */
const maxChanged = 20

/**
 * The versions of entries. Callers who see an entry see its versions; owners also see the versions of their deleted
 * entries.
 */
export class VersionHistory {
  readonly #read: Store['read']
  readonly #versions: VersionStore
  readonly #queries: Pick<SearchService, 'stored' | 'get'>
  readonly #views: Views

  constructor(
    store: Pick<Store, 'read' | 'versions'>,
    queries: Pick<SearchService, 'stored' | 'get'>,
    views: Views,
  ) {
    this.#read = store.read
    this.#versions = store.versions
    this.#queries = queries
    this.#views = views
  }

  async versions(
    agent: string,
    limit: number,
    cursor: string | undefined,
    caller: Caller,
    changes = false,
  ): Promise<VersionPage> {
    const entry = await this.#read.entry(toReference(agent))
    if (!entry || !(isVisible(entry, caller) || mayRead(caller, entry))) {
      throw unlisted(agent)
    }
    const { id, versions_after } = entry
    const question = ['versions', id]
    const found = await this.#versions.list(id, versions_after, limit + 1, positionIn(cursor, question))
    const { total, newest } = await this.#versions.extent(id, versions_after)
    const { page: shown, last } = takePage(found, limit)
    const changed = changes ? await this.#changed(entry, shown) : undefined
    return {
      versions: shown.map(({ precedence: _, ...version }) => ({
        ...version,
        current: version.revision === newest && isListed(entry),
        ...(changed && { changed: changed.get(version.revision) ?? null }),
      })),
      next_cursor: last ? cursorAfter(last, question) : null,
      total,
    }
  }

  /** The fields that each version changed of the version published before it, by revision. */
  async #changed(
    { id, versions_after }: StoredEntry,
    versions: readonly Version[],
  ): Promise<ReadonlyMap<number, string[]>> {
    const changed = new Map<number, string[]>()
    for (const { revision } of versions.slice(0, maxChanged)) {
      const [after, before] = await Promise.all([
        this.#versions.find(id, versions_after, { revision }),
        this.#versions.find(id, versions_after, { before: revision }),
      ])
      if (!after || !before) continue
      const [old, now]: Readonly<Record<string, unknown>>[] = [before.content, after.content]
      const fields = Object.keys({ ...old, ...now })
      changed.set(
        revision,
        fields.filter((field) => orderedText(old?.[field] ?? null) !== orderedText(now?.[field] ?? null)),
      )
    }
    return changed
  }

  /**
   * Without `to`, compares with the current version. Where both name one version string, compares from its first
   * version. Throws as `resolve` does.
   */
  async diff(agent: string, from: string, to: string | undefined, caller: Caller): Promise<VersionDiff> {
    const before = await this.resolve(agent, wantedOf(from), caller)
    const after = await this.resolve(agent, to === undefined ? {} : wantedOf(to), caller)
    const isOneString = from === before.version && from === after.version
    const first = isOneString
      ? await this.#firstOf(await this.#queries.stored(agent, caller), from)
      : undefined
    return {
      package_name: after.package_name,
      from: first ? `r${first.revision}` : from,
      to: to ?? after.version ?? (await this.#newest(agent, caller)),
      differences: differencesOf((first ? this.#views.detail(first.entry, caller) : before).card, after.card),
    }
  }

  /** The name of the version published last, by its revision. */
  async #newest(agent: string, caller: Caller): Promise<string> {
    const { id, versions_after } = await this.#queries.stored(agent, caller)
    return `r${(await this.#versions.extent(id, versions_after)).newest}`
  }

  /** The entry in the first of several versions with one version string, if there are several. */
  async #firstOf(entry: StoredEntry, version: string) {
    const same = (await this.#candidates(entry)).filter((candidate) => candidate.version === version)
    const first = same.at(-1)
    if (!first || same.length === 1) return undefined
    const found = await this.#versions.find(entry.id, entry.versions_after, { revision: first.revision })
    return found && { revision: found.revision, entry: { ...entry, ...found.content } }
  }

  /** The agent as it was in a version. Throws Failure `not_found` that names existing versions. */
  async resolve(agent: string, requested: WantedVersion, caller: Caller): Promise<EntryDetail> {
    const { version, revision } = requested
    if (version === undefined && revision === undefined) return await this.#queries.get(agent, caller)
    const entry = await this.#queries.stored(agent, caller)
    if (version === entry.version && revision === undefined) return await this.#queries.get(agent, caller)
    const found = await this.#find(entry, requested)
    if (found === 'current') return await this.#queries.get(agent, caller)
    if (found) return this.#views.detail({ ...entry, ...found.content }, caller)
    throw await this.#unknownVersion(entry, requested)
  }

  async #find(
    entry: StoredEntry,
    { version, revision }: WantedVersion,
  ): Promise<PublishedVersion | 'current' | undefined> {
    const find = (selector: Parameters<VersionStore['find']>[2]) =>
      this.#versions.find(entry.id, entry.versions_after, selector)
    if (revision !== undefined) {
      const found = await find({ revision })
      return version === undefined || found?.version === version ? found : undefined
    }
    const exact = version === undefined ? undefined : await find({ version })
    if (exact) return exact
    if (version === 'latest') {
      const highest = (await this.#candidates(entry)).find(isRelease)
      return highest ? await find({ revision: highest.revision }) : 'current'
    }
    const range = version === undefined ? null : validRange(version)
    if (range === null) return undefined
    const fitting = (await this.#candidates(entry)).find(
      (candidate) => candidate.version && satisfies(candidate.version, range),
    )
    return fitting && (await find({ revision: fitting.revision }))
  }

  #candidates({ id, versions_after }: StoredEntry): Promise<readonly Version[]> {
    return this.#versions.list(id, versions_after, maxCompared)
  }

  async #unknownVersion(entry: StoredEntry, { version, revision }: WantedVersion): Promise<Failure> {
    const label = [version, revision !== undefined && `of revision ${revision}`].filter(Boolean).join(' ')
    const message = `${entry.package_name} has no version ${label}.`
    const published = new Set((await this.#candidates(entry)).flatMap((candidate) => candidate.version ?? []))
    const close = version === undefined ? [] : nearest(version, published, maxSuggestions)
    const suggested = close.length > 0 ? close : [...published].slice(0, maxSuggestions)
    const hint = entry.version === null ? 'It states no version.' : `Its current version is ${entry.version}.`
    return new Failure('not_found', message, {
      hint: `${hint} list_versions lists all versions.`,
      ...(suggested.length > 0 && { nearest: suggested }),
    })
  }
}

/** `r12` names a version by its revision, for versions without a version string. */
function wantedOf(version: string): WantedVersion {
  const [, revision] = /^r(\d{1,15})$/.exec(version) ?? []
  return revision === undefined ? { version } : { revision: Number(revision) }
}

function isRelease({ version, precedence }: Version): boolean {
  return precedence !== '' && version !== null && prerelease(version) === null
}

function cursorAfter({ precedence, revision }: Version, question: unknown): string {
  return encodePosition({ key: precedence, id: String(revision) }, question)
}

function positionIn(
  cursor: string | undefined,
  question: unknown,
): Pick<Version, 'precedence' | 'revision'> | undefined {
  if (cursor === undefined) return undefined
  const { key, id } = decodePosition(cursor, question)
  return { precedence: String(key), revision: numberIn(id) }
}

/** The members that differ between two documents, as deep as both have members. */
function differencesOf(before: unknown, after: unknown): Difference[] {
  return [...differing('', before, after)]
}

function* differing(field: string, before: unknown, after: unknown): Generator<Difference> {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const [old, changed] = [membersOf(before), membersOf(after)]
  if (!old || !changed) return yield { field: field || '/', before: before ?? null, after: after ?? null }
  for (const name of new Set([...old.keys(), ...changed.keys()]))
    yield* differing(`${field}/${name}`, old.get(name), changed.get(name))
}

/** Members by name; those of a list of named things, such as capabilities, by their names. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (isRecord(value)) return new Map(Object.entries(value))
  if (!Array.isArray(value)) return undefined
  const named = new Map<string, unknown>()
  for (const item of value) {
    const name: unknown = isRecord(item) ? (item.id ?? item.name) : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}
