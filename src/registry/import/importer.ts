import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type { AuditAction, Store, StoredEntry, Writer } from '../../store/store.ts'
import { contentFlags } from '../entry/content-flags.ts'
import { blank } from '../entry/entry-defaults.ts'
import { fittingCapabilities, maxEntryBytes } from '../entry/entry-size.ts'
import { type Facts, readLine } from './read-line.ts'

/** The result of an import. Line numbers count from 1. */
export interface ImportReport {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly rejected: readonly { readonly line: number; readonly reason: string }[]
}

interface ImporterOptions {
  readonly store: Store
  readonly clock: () => number
  readonly createId: () => string
}

/**
 * Imports each line as an ACTIVE, unclaimed entry, all in one transaction. A line with a known name and upstream URL
 * updates its entry if the line differs; a name taken by another upstream gets the suffix `-2`, `-3` and so on.
 */
export async function importLines(
  { store, clock, createId }: ImporterOptions,
  lines: readonly string[],
  first: number,
  caller: Principal | null,
): Promise<{ report: ImportReport; revision: number }> {
  const rejected: { line: number; reason: string }[] = []
  const read: { line: number; facts: Facts }[] = []
  for (const [at, text] of lines.entries()) {
    try {
      read.push({ line: first + at, facts: readLine(text) })
    } catch (fault) {
      rejected.push({ line: first + at, reason: reasonOf(fault) })
    }
  }
  const auditAction: AuditAction = { actor: caller, action: 'import' }
  const last = new Map(read.map(({ line, facts }) => [identity(facts), line]))
  const { result, revision } = await store.write(async (writer) => {
    const counts = { created: 0, updated: 0, unchanged: 0 }
    const refused: typeof rejected = []
    for (const { line, facts } of read) {
      const again = last.get(identity(facts)) ?? line
      if (again !== line) {
        refused.push({ line, reason: `Line ${again} states the same agent again.` })
        continue
      }
      const outcome = await importFacts(writer, facts, auditAction, new Date(clock()).toISOString(), createId)
      if (outcome in counts) counts[outcome as keyof typeof counts] += 1
      else refused.push({ line, reason: outcome })
    }
    return { counts, refused }
  })
  const all = [...rejected, ...result.refused].sort((a, b) => a.line - b.line)
  return { report: { ...result.counts, rejected: all }, revision }
}

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
      const entry = fitting({ ...fresh(at, createId()), ...facts, package_name })
      if (!entry) return tooLarge(package_name)
      await writer.put({ ...entry, content_flags: contentFlags(entry) }, auditAction)
      return 'created'
    }
    if (taken.source_url !== facts.source_url) continue
    if (taken.owner) return `${package_name} is claimed; its owner publishes it.`
    if (taken.deleted) return `${package_name} was deleted here.`
    // An import changes neither fields that an admin corrected nor tools that were read from the server.
    const corrected = pick(taken, taken.stated ?? [])
    const read = facts.capabilities.length === 0 && taken.reading?.lists ? pick(taken, ['capabilities']) : {}
    const next = fitting({ ...taken, ...facts, ...read, ...corrected, package_name })
    if (!next) return tooLarge(package_name)
    if (
      JSON.stringify(next) === JSON.stringify({ ...taken, ...pick(taken, Object.keys(facts)), package_name })
    )
      return 'unchanged'
    await writer.put({ ...next, content_flags: contentFlags(next), updated_at: at }, auditAction)
    return 'updated'
  }
}

/** The entry with the capabilities that fit. */
function fitting(entry: StoredEntry): StoredEntry | undefined {
  const capabilities = fittingCapabilities(entry)
  return capabilities && { ...entry, capabilities }
}

function tooLarge(packageName: string): string {
  return `${packageName} would have more than ${maxEntryBytes} bytes without its capabilities.`
}

/** Some fields of an entry. */
function pick(entry: StoredEntry, fields: readonly string[]): Partial<StoredEntry> {
  return Object.fromEntries(fields.map((key) => [key, Reflect.get(entry, key)]))
}

function fresh(at: string, id: string): Omit<StoredEntry, keyof Facts> {
  return {
    ...blank,
    id,
    state: 'ACTIVE',
    verification_level: 'unclaimed',
    owner: null,
    hosted: false,
    target: null,
    created_at: at,
    updated_at: at,
  }
}

function reasonOf(fault: unknown): string {
  if (fault instanceof z.ZodError) {
    return fault.issues.map((issue) => `${issue.path.join('.') || 'line'}: ${issue.message}`).join('; ')
  }
  if (fault instanceof Failure) {
    return [
      fault.message,
      ...(fault.details.errors ?? []).map((problem) => `${problem.pointer}: ${problem.detail}`),
    ].join(' ')
  }
  if (fault instanceof SyntaxError) return `Not JSON: ${fault.message}`
  throw fault
}
