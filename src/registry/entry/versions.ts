import { prerelease, satisfies, validRange } from 'semver'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import { nearest } from '../../../schemas/nearest.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { VersionPage, WantedVersion } from '../../../schemas/version.ts'
import { isListed } from '../../store/entries/version-content.ts'
import type { PublishedVersion, Store, StoredEntry, Version, VersionStore } from '../../store/store.ts'
import { decodeCursor, encodeCursor, numberIn } from '../queries/cursor.ts'
import type { Finder } from '../queries/search-service.ts'
import { isVisible, mayRead } from './permissions.ts'
import { toReference } from './reference.ts'
import type { Views } from './view.ts'

type Caller = Principal | null

/** What entries were. Their history is seen by whoever sees them, and of deleted ones by whoever owned them. */
export interface History {
  versions(agent: string, limit: number, cursor: string | undefined, caller: Caller): Promise<VersionPage>
  /** The agent as it was in a version. Throws Failure `not_found` with versions that there are. */
  resolve(agent: string, range: WantedVersion, caller: Caller): Promise<EntryDetail>
}

/** A range is looked for among so many of the highest. */
const maxCompared = 1000
const maxSuggestions = 3

export function createHistory(
  { read, versions }: Pick<Store, 'read' | 'versions'>,
  finder: Pick<Finder, 'stored' | 'get'>,
  views: Views,
): History {
  async function page(
    agent: string,
    limit: number,
    cursor: string | undefined,
    caller: Caller,
  ): Promise<VersionPage> {
    const entry = await read.entry(toReference(agent))
    if (!entry || !(isVisible(entry, caller) || mayRead(caller, entry))) {
      throw new Failure('not_found', `No agent is listed as ${agent}.`)
    }
    const { id, versions_after } = entry
    const question = ['versions', id]
    const found = await versions.list(id, versions_after, limit + 1, placeIn(cursor, question))
    const { total, newest } = await versions.extent(id, versions_after)
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    return {
      versions: shown.map(({ precedence: _, ...version }) => ({
        ...version,
        current: version.revision === newest && isListed(entry),
      })),
      next_cursor: last && found.length > limit ? cursorAt(last, question) : null,
      total,
    }
  }

  async function resolve(agent: string, requested: WantedVersion, caller: Caller): Promise<EntryDetail> {
    const { version, revision } = requested
    if (version === undefined && revision === undefined) return await finder.get(agent, caller)
    const entry = await finder.stored(agent, caller)
    if (version === entry.version && revision === undefined) return await finder.get(agent, caller)
    const found = await findWanted(entry, requested)
    if (found === 'current') return await finder.get(agent, caller)
    if (found) return views.detail({ ...entry, ...found.content }, caller)
    throw await unknownVersion(entry, requested)
  }

  async function findWanted(
    entry: StoredEntry,
    { version, revision }: WantedVersion,
  ): Promise<PublishedVersion | 'current' | undefined> {
    const find = (selector: Parameters<VersionStore['find']>[2]) =>
      versions.find(entry.id, entry.versions_after, selector)
    if (revision !== undefined) {
      const found = await find({ revision })
      return version === undefined || found?.version === version ? found : undefined
    }
    const exact = version === undefined ? undefined : await find({ version })
    if (exact) return exact
    if (version === 'latest') {
      const highest = (await compared(entry)).find(isRelease)
      return highest ? await find({ revision: highest.revision }) : 'current'
    }
    const range = version === undefined ? null : validRange(version)
    if (range === null) return undefined
    const fitting = (await compared(entry)).find(
      (candidate) => candidate.version && satisfies(candidate.version, range),
    )
    return fitting && (await find({ revision: fitting.revision }))
  }

  function compared({ id, versions_after }: StoredEntry): Promise<readonly Version[]> {
    return versions.list(id, versions_after, maxCompared)
  }

  async function unknownVersion(entry: StoredEntry, { version, revision }: WantedVersion): Promise<Failure> {
    const label = [version, revision !== undefined && `of revision ${revision}`].filter(Boolean).join(' ')
    const message = `${entry.package_name} has no version ${label}.`
    const published = new Set((await compared(entry)).flatMap((candidate) => candidate.version ?? []))
    const close = version === undefined ? [] : nearest(version, published, maxSuggestions)
    const suggested = close.length > 0 ? close : [...published].slice(0, maxSuggestions)
    const hint = entry.version === null ? 'It states no version.' : `Its current version is ${entry.version}.`
    return new Failure('not_found', message, {
      hint: `${hint} list_versions tells all there were.`,
      ...(suggested.length > 0 && { nearest: suggested }),
    })
  }

  return { versions: page, resolve }
}

function isRelease({ version, precedence }: Version): boolean {
  return precedence !== '' && version !== null && prerelease(version) === null
}

function cursorAt({ precedence, revision }: Version, question: unknown): string {
  return encodeCursor({ key: precedence, id: String(revision) }, question)
}

function placeIn(
  cursor: string | undefined,
  question: unknown,
): Pick<Version, 'precedence' | 'revision'> | undefined {
  if (cursor === undefined) return undefined
  const { key, id } = decodeCursor(cursor, question)
  return { precedence: String(key), revision: numberIn(id) }
}
