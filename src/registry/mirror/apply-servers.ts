import { isDeepStrictEqual } from 'node:util'
import { derivedName } from '../../../schemas/derived-name.ts'
import type { ServerVersion } from '../../../schemas/server.ts'
import { precedenceOf } from '../../store/entries/semver-sort-key.ts'
import type { Writer } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { fieldsOf, readServer } from '../catalog/server-json.ts'
import type { Facts } from '../import/read-line.ts'
import {
  type Applied,
  type ApplyContext,
  hideAgent,
  nothingApplied,
  type PutEntry,
  putAgent,
} from './apply-agents.ts'
import type { ServerItem } from './source-items.ts'

/** The name of the source of entries that stood in a file. */
export const importSource = 'import'

/** Versions of one name that a mirror lists; the official registry has some 70 of one. */
const maxVersions = 1_000

/** A version before it is known whether its agent has an entry here, and whether the public sees it. */
type Draft = Omit<ServerVersion, 'entry_id' | 'is_listed'>

/**
 * Writes versions of an MCP registry: all versions under their names, and for each name an entry that follows the
 * latest version that was not deleted.
 */
export async function applyServers(
  writer: Writer,
  context: ApplyContext,
  items: readonly ServerItem[],
): Promise<Applied> {
  const applied = nothingApplied()
  const byName = Map.groupBy(items, ({ key }) => key)
  const names = [...byName.keys()]
  const stored = Map.groupBy(await writer.serversNamed(names), ({ server_name }) => server_name)
  const ids = await writer.mirrored(context.source, names)
  const rows: ServerVersion[] = []
  for (const [name, versions] of byName) {
    const found = stored.get(name) ?? []
    const own = ids.has(name) ? await writer.entry({ id: ids.get(name) as string }) : undefined
    const other = found.find(
      ({ mirror, entry_id }) => mirror !== context.source && (mirror !== null || entry_id !== own?.id),
    )
    const imported = other && (await takenOver(writer, context, own, other))
    const entry = own ?? imported
    const before = imported ? [] : found
    if (other && !imported) {
      const holder = other.mirror === null ? 'it was published here' : `the mirror ${other.mirror} has it`
      applied.rejected.push({ key: name, reason: `The name is taken: ${holder}.` })
      continue
    }
    const published = before.filter(({ mirror }) => mirror === null)
    const merged = merge(before, versions, context)
    if (merged.length > maxVersions && merged.length > before.length) {
      applied.rejected.push({ key: name, reason: `It has more than ${maxVersions} versions.` })
      continue
    }
    const shown = context.latest_only ? merged.filter(({ is_latest }) => is_latest) : merged
    const put = await putEntry(writer, context, entry, name, shown, versions)
    if (typeof put === 'string') {
      applied.rejected.push({ key: name, reason: put })
      continue
    }
    applied.found.push({ key: name, entry_id: put.id })
    const changed = withPublished(merged, published).flatMap((draft): ServerVersion[] => {
      const earlier = before.find(({ version }) => version === draft.version)
      const isHere = draft.mirror === null && earlier
      const is_listed = isHere
        ? earlier.is_listed
        : put.is_listed && (draft.is_latest || !context.latest_only)
      const row = { ...draft, entry_id: put.id, is_listed }
      return earlier && isSame(earlier, row) ? [] : [{ ...row, updated_at: context.time }]
    })
    rows.push(...changed)
    const isOnlyOfVersions = put.outcome === 'unchanged' && changed.length > 0
    if (isOnlyOfVersions) await renew(writer, put.id, context)
    applied[isOnlyOfVersions ? 'updated' : put.outcome] += 1
  }
  await writer.putServers(rows)
  return applied
}

/** An entry that stood in a file and that nobody owns goes to the mirror whose registry has its name. */
async function takenOver(
  writer: Writer,
  { source }: ApplyContext,
  own: StoredEntry | undefined,
  { entry_id }: ServerVersion,
): Promise<StoredEntry | undefined> {
  const entry = own || source === importSource ? undefined : await writer.entry({ id: entry_id })
  if (!entry || entry.owner || entry.hosted) return undefined
  if (entry.origin && entry.origin.source !== importSource) return undefined
  await writer.releaseServers(importSource, entry_id)
  return entry
}

/** A new revision ends the life of answers that were made before it. */
async function renew(writer: Writer, id: string, { audit }: ApplyContext): Promise<void> {
  const entry = await writer.entry({ id })
  if (entry) await writer.put(entry, audit)
}

/** The time at which a version changed here is no part of what it is. */
function isSame(left: ServerVersion, right: ServerVersion): boolean {
  return isDeepStrictEqual(left, { ...right, updated_at: left.updated_at })
}

/** All versions of a name after new ones came, of which exactly one is the latest. */
function merge(
  before: readonly ServerVersion[],
  items: readonly ServerItem[],
  context: ApplyContext,
): Draft[] {
  const own = before.filter(({ mirror }) => mirror === context.source)
  const drafts = new Map<string, Draft>(own.map((row) => [row.version, row]))
  for (const item of items)
    drafts.set(item.document.version, draftOf(item, drafts.get(item.document.version), context))
  const all = [...drafts.values()]
  const stated = items.findLast(({ is_latest }) => is_latest)?.document.version
  const latest =
    stated ??
    own.find((row) => row.is_latest && drafts.get(row.version)?.is_latest)?.version ??
    (highest(all.filter(({ status }) => status !== 'deleted')) ?? highest(all))?.version
  return all.map((draft) => withLatest(draft, draft.version === latest))
}

/** The versions of the source with those that the owner of the agent published here, which take precedence. */
function withPublished(drafts: readonly Draft[], published: readonly ServerVersion[]): readonly Draft[] {
  if (published.length === 0) return drafts
  const own = new Set(published.map(({ version }) => version))
  const all = [...published, ...drafts.filter(({ version }) => !own.has(version))]
  const latest = highest(all.filter(({ status }) => status !== 'deleted')) ?? highest(all)
  return all.map((draft) => withLatest(draft, draft.version === latest?.version))
}

function draftOf(item: ServerItem, before: Draft | undefined, { source, time }: ApplyContext): Draft {
  const { document, meta, status, status_message, is_latest } = item
  const published_at = item.published_at ?? before?.published_at ?? time
  return {
    server_name: item.key,
    version: document.version,
    revision: null,
    mirror: source,
    is_bridged: false,
    is_latest,
    status,
    status_message,
    status_changed_at: item.status_changed_at ?? before?.status_changed_at ?? published_at,
    published_at,
    updated_at: before?.updated_at ?? time,
    document,
    meta,
  }
}

/** The registry unmarks the version before the latest one without a change of its time. */
function withLatest(draft: Draft, is_latest: boolean): Draft {
  const { meta } = draft
  if (!meta || meta.isLatest === is_latest) return { ...draft, is_latest }
  return { ...draft, is_latest, meta: { ...meta, isLatest: is_latest } }
}

/** Semantic versions come before others, and later publications before earlier ones. */
function highest(drafts: readonly Draft[]): Draft | undefined {
  const rank = ({ version, published_at }: Draft) => `${precedenceOf(version)}\n${published_at}`
  return drafts.reduce<Draft | undefined>(
    (best, draft) => (best && rank(best) >= rank(draft) ? best : draft),
    undefined,
  )
}

async function putEntry(
  writer: Writer,
  context: ApplyContext,
  entry: StoredEntry | undefined,
  name: string,
  drafts: readonly Draft[],
  items: readonly ServerItem[],
): Promise<PutEntry | string> {
  const shown = highest(drafts.filter(({ status }) => status !== 'deleted'))
  if (!shown) {
    const message = highest(drafts)?.status_message ?? null
    return entry ? await hideAgent(writer, context, entry, message) : 'It was deleted there.'
  }
  const item = items.findLast(({ document }) => document.version === shown.version)
  const facts: Facts = {
    ...(item?.fields ?? fieldsOf(readServer(shown.document))),
    package_name: derivedName(name),
    manifest_url: null,
    tags: ['mcp'],
    category: null,
    license: null,
    capabilities: [],
    card: null,
  }
  const at = new Date(shown.status_changed_at).toISOString()
  const deprecated =
    shown.status === 'deprecated' ? { message: shown.status_message, successor: null, at } : null
  return await putAgent(writer, context, entry, { key: name, facts, deprecated })
}
