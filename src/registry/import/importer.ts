import type { AuditAction } from '../../../schemas/audit.ts'
import { isRecord } from '../../../schemas/json.ts'
import type { ImportReport } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { stripMarks, withoutMarksAtEdges } from '../../../schemas/text.ts'
import { sortableTime } from '../../common/sortable-time.ts'
import type { Store, Writer } from '../../store/store.ts'
import { applyServers, importSource } from '../mirror/apply-servers.ts'
import { readServerItem, type ServerItem } from '../mirror/source-items.ts'
import { newEntry, tooLarge, updatedEntry } from './imported-entry.ts'
import { type Facts, readDocument, repeatedCapabilities } from './read-line.ts'
import { reasonOf } from './reason.ts'

interface ImporterOptions {
  readonly store: Store
  readonly clock: () => number
  readonly createId: () => string
}

/**
 * Imports each line that is not blank as an ACTIVE, unclaimed entry, all in one transaction. A line with a known name
 * and upstream URL updates its entry if the line differs; a name taken by another upstream gets the suffix `-2`, `-3`
 * and so on. Lines of an MCP registry, `{server, _meta}`, are versions: all of one name make one entry.
 */
export async function importLines(
  { store, clock, createId }: ImporterOptions,
  lines: readonly string[],
  first: number,
  caller: Principal | null,
): Promise<{ report: ImportReport; revision: number }> {
  const rejected: { line: number; reason: string }[] = []
  const read: { line: number; facts: Facts; message: string | undefined }[] = []
  const servers: { line: number; item: ServerItem }[] = []
  for (const [at, text] of lines.entries()) {
    if (text.trim() === '') continue
    try {
      const document: unknown = stripMarks(JSON.parse(withoutMarksAtEdges(text)))
      if (isRecord(document) && isRecord(document.server)) {
        servers.push({ line: first + at, item: readServerItem(document) })
      } else {
        const facts = readDocument(document)
        read.push({ line: first + at, facts, message: repeatedCapabilities(document) })
      }
    } catch (fault) {
      rejected.push({ line: first + at, reason: reasonOf(fault) })
    }
  }
  const auditAction: AuditAction = { actor: caller, action: 'import' }
  const last = new Map(read.map(({ line, facts }) => [identity(facts), line]))
  const { result, revision } = await store.write(async (writer) => {
    const counts = { created: 0, updated: 0, unchanged: 0 }
    const warnings: ImportReport['warnings'] = []
    const refused = await importServers(writer, servers, counts, auditAction, { clock, createId })
    for (const { line, facts, message } of read) {
      const again = last.get(identity(facts)) ?? line
      if (again !== line) {
        refused.push({ line, reason: `Line ${again} states the same agent again.` })
        continue
      }
      const outcome = await importFacts(writer, facts, auditAction, new Date(clock()).toISOString(), createId)
      if (!(outcome in counts)) {
        refused.push({ line, reason: outcome })
        continue
      }
      counts[outcome as keyof typeof counts] += 1
      if (message !== undefined) warnings.push({ line, message })
    }
    return { counts, refused, warnings }
  })
  const all = [...rejected, ...result.refused].sort((a, b) => a.line - b.line)
  return { report: { ...result.counts, rejected: all, warnings: result.warnings }, revision }
}

/** Lists versions of an MCP registry that stand in a file; returns the lines that are not listed. */
async function importServers(
  writer: Writer,
  servers: readonly { readonly line: number; readonly item: ServerItem }[],
  counts: { created: number; updated: number; unchanged: number },
  audit: AuditAction,
  { clock, createId }: Pick<ImporterOptions, 'clock' | 'createId'>,
): Promise<{ line: number; reason: string }[]> {
  const at = new Date(clock()).toISOString()
  const origin = { ...importOrigin, source: importSource }
  const time = sortableTime(at) ?? at
  const context = { source: importSource, origin, at, time, latest_only: false, createId, audit }
  const applied = await applyServers(
    writer,
    context,
    servers.map(({ item }) => item),
  )
  await writer.putMirrored(importSource, 1, applied.found)
  counts.created += applied.created
  counts.updated += applied.updated + applied.removed
  counts.unchanged += applied.unchanged
  return applied.rejected.map(({ key, reason }) => {
    const line = servers.find(({ item }) => item.key === key)?.line ?? 0
    return { line, reason: `${key}: ${reason}` }
  })
}

const importOrigin = {
  kind: 'mcp-registry',
  url: '',
  license: null,
  attribution: null,
  takedown: null,
} as const

function identity({ package_name, source_url }: Facts): string {
  return `${package_name} ${source_url}`
}

async function importFacts(
  writer: Writer,
  facts: Facts,
  auditAction: AuditAction,
  at: string,
  createId: () => string,
): Promise<string> {
  for (let number = 1; ; number++) {
    const package_name = number === 1 ? facts.package_name : `${facts.package_name}-${number}`
    const taken = await writer.entry({ package_name })
    if (!taken) {
      const entry = newEntry({ ...facts, package_name }, createId(), at)
      if (!entry) return tooLarge(package_name)
      await writer.put(entry, auditAction)
      return 'created'
    }
    if (taken.source_url !== facts.source_url) continue
    if (taken.owner) return `${package_name} is claimed; its owner publishes it.`
    if (taken.deleted) return `${package_name} was deleted here.`
    const source = taken.origin?.source
    if (source !== undefined && source !== importSource) return `The mirror ${source} has ${package_name}.`
    const next = updatedEntry(taken, { ...facts, package_name }, at)
    if (!next) return tooLarge(package_name)
    if (next === taken) return 'unchanged'
    await writer.put(next, auditAction)
    return 'updated'
  }
}
