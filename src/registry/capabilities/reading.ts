import { isDeepStrictEqual } from 'node:util'
import { calledEndpoint } from '../../../schemas/callable.ts'
import { counted } from '../../../schemas/counted.ts'
import {
  type Capability,
  distinct,
  type Endpoint,
  type ServerStatement,
} from '../../../schemas/entry-parts.ts'
import type { Failure } from '../../../schemas/failure.ts'
import { hidesAny, hidesCharacters, mixesScripts } from '../../../schemas/text.ts'
import type { Finding, ReadingReport } from '../../../schemas/trust.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { error, info, warning } from '../cards/card-findings.ts'
import { maxCapabilities } from '../cards/manifest.ts'
import { fittingCapabilities, maxEntryBytes } from '../entry/entry-size.ts'
import { introduction } from './server-statement.ts'

/** The endpoint whose tools are the capabilities of an entry. */
export function readEndpoint(entry: StoredEntry): Endpoint | undefined {
  if (entry.hosted || entry.deleted) return undefined
  const endpoint = calledEndpoint(entry)
  return endpoint?.protocol === 'mcp' ? endpoint : undefined
}

/** A list that changes more often than this in a row is read once a day. */
export const maxChanges = 3
/** A card repeats the capabilities below other fields, and a message has at most 32 levels. */
const maxDepth = 20

/**
 * An entry after its server was read. The tools become its capabilities, unless the owner, the card or the source of
 * the entry states capabilities: these stay, and a difference is a finding.
 */
export function withReading(entry: StoredEntry, statement: ServerStatement, at: string): StoredEntry {
  const before = entry.reading
  const { capabilities, findings: ofTools } = usable(statement)
  const findings = [...ofTools, ...ofVersion(entry, statement)]
  const isListing = entry.capabilities.length === 0 || before?.lists === true
  const report = { status: 'ok', checked_at: at, detail: null } as const
  if (!isListing) {
    const all = [...findings, ...differences(entry, capabilities)]
    return { ...entry, reading: { ...report, findings: all, lists: false, changes: 0 } }
  }
  const named = { ...entry, ...namesOf(entry, statement) }
  const fitted = fittingOf(named, capabilities)
  if (!fitted) {
    const reading = { ...report, status: 'invalid', detail: oversized.message } as const
    return {
      ...entry,
      reading: { ...reading, findings: [oversized], lists: before?.lists ?? false, changes: 0 },
    }
  }
  const isOther = !isDeepStrictEqual(
    statedBy(named, fitted.capabilities),
    statedBy(entry, entry.capabilities),
  )
  const hasChanged = before?.lists === true && isOther
  const changes = hasChanged ? before.changes + 1 : Math.max(0, (before?.changes ?? 0) - 1)
  const all = [...(changes >= maxChanges ? [unstable(changes)] : []), ...fitted.findings, ...findings]
  return {
    ...named,
    capabilities: fitted.capabilities,
    reading: { ...report, findings: all, lists: true, changes },
  }
}

/** An entry after a version of its package was started and listed its tools. Lists of others give way to them. */
export function withRun(
  entry: StoredEntry,
  statement: ServerStatement,
  package_version: string,
  at: string,
): StoredEntry {
  const isListing = entry.owner === null || entry.reading?.lists === true
  const before = { ...entry, stated: null, ...(isListing && { capabilities: [] }) }
  const { reading, capabilities } = withReading(before, statement, at)
  const isUsable = reading?.status === 'ok'
  return {
    ...entry,
    capabilities: isUsable ? capabilities : entry.capabilities,
    reading: reading && { ...reading, package_version },
  }
}

function statedBy(
  { name, description, version }: StoredEntry,
  capabilities: StoredEntry['capabilities'],
): unknown {
  return { name, description, version, capabilities }
}

/** An entry after its server could not be read. It keeps the content of the last reading. */
export function withoutReading(entry: StoredEntry, failure: Failure, at: string): StoredEntry {
  const { findings = [], lists = false, changes = 0 } = entry.reading ?? {}
  const { message: detail } = failure
  return {
    ...entry,
    reading: { status: statusOf(failure), checked_at: at, detail, findings, lists, changes },
  }
}

function statusOf({ code, details: { upstream } }: Failure): ReadingReport['status'] {
  if (upstream?.status === 401 || upstream?.status === 403) return 'refused'
  return code === 'upstream_invalid' || code === 'too_large' ? 'invalid' : 'unreachable'
}

/** The tools that can be listed, and what the owner should know of the others. */
export function usable({ capabilities, is_cut }: ServerStatement): {
  capabilities: Capability[]
  findings: Finding[]
} {
  const callable = distinct(capabilities)
  const visible = callable.filter((capability) => !hidesAny(capability))
  const shallow = visible.map((capability) => (isDeep(capability) ? withoutSchemas(capability) : capability))
  const hidden = callable.length - visible.length
  const repeated = capabilities.length - callable.length
  const deep = visible.filter((capability) => isDeep(capability)).length
  const isMore = is_cut || shallow.length > maxCapabilities
  return {
    capabilities: shallow.slice(0, maxCapabilities),
    findings: [
      ...(hidden > 0 ? [hiding(hidden)] : []),
      ...(repeated > 0 ? [repeating(repeated)] : []),
      ...(isMore ? [tooMany] : []),
      ...(deep > 0 ? [tooDeep(deep)] : []),
    ],
  }
}

/** Walks level by level, so that depth costs no stack. */
function isDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= maxDepth; depth++) {
    level = level.filter((item) => typeof item === 'object' && item !== null).flatMap(Object.values)
    if (level.length === 0) return false
  }
  return true
}

/** A capability with what is needed to find and to call it. */
function lean({ output_schema: _, icons: __, _meta: ___, ...capability }: Capability): Capability {
  return capability
}

function withoutSchemas({ name, title, description, read_only }: Capability): Capability {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    ...(read_only !== undefined && { read_only }),
  }
}

/** The capabilities with which an entry is within its bound; undefined if it is above the bound without any. */
function fittingOf(
  entry: StoredEntry,
  capabilities: Capability[],
): { capabilities: Capability[]; findings: Finding[] } | undefined {
  const whole = fittingCapabilities({ ...entry, capabilities })
  if (!whole || whole.length === capabilities.length) return whole && { capabilities: whole, findings: [] }
  const fitting = fittingCapabilities({ ...entry, capabilities: capabilities.map(lean) }) ?? []
  return { capabilities: fitting, findings: [cutTo(fitting.length, capabilities.length)] }
}

/** The name, the description and the version by the server, where neither the owner nor a card states them. */
function namesOf(entry: StoredEntry, statement: ServerStatement): Partial<StoredEntry> {
  if (!entry.stated || entry.manifest_url !== null) return {}
  const { name, description, version } = introduction(statement)
  const stated = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    version,
  }
  const followed = Object.entries(stated).filter(
    ([field, text]) =>
      !entry.stated?.includes(field) && !(text && (hidesCharacters(text) || mixesScripts(text))),
  )
  return Object.fromEntries(followed)
}

/** An owner who states the version is told of another one. */
function ofVersion({ owner, stated, version }: StoredEntry, statement: ServerStatement): Finding[] {
  const { version: read } = introduction(statement)
  if (!owner || !stated?.includes('version') || !read || read === version) return []
  if (hidesCharacters(read)) return []
  const message = `The server says that it is version ${read}.`
  return [info('differs_from_server', '/version', message, 'State its version with update.')]
}

function differences(entry: StoredEntry, capabilities: readonly Capability[]): Finding[] {
  const namesIn = (list: readonly Capability[]) => list.map(({ name }) => name).sort()
  if (isDeepStrictEqual(namesIn(entry.capabilities), namesIn(capabilities))) return []
  const message = 'The capabilities in the registry differ from the tools that the server lists.'
  const remedy = 'Publish an empty list of capabilities: they then follow the server.'
  return [info('differs_from_server', '/capabilities', message, remedy)]
}

const oversized = error(
  'too_large',
  '',
  `The entry has more than ${maxEntryBytes} bytes without its capabilities.`,
  'State less in the registry.',
)
const tooMany = warning(
  'too_many_tools',
  '/capabilities',
  `Only the first ${maxCapabilities} tools are listed.`,
  'Offer fewer tools, or several servers.',
)

function repeating(count: number): Finding {
  const message = `${counted(count, 'tool')} left out: an earlier tool has the same name.`
  return warning('duplicate_tool', '/capabilities', message, 'Give each tool a name of its own.')
}

function hiding(count: number): Finding {
  const message = `${counted(count, 'tool')} with hidden characters left out.`
  return error('hidden_characters', '/capabilities', message, 'Remove these characters.')
}

function tooDeep(count: number): Finding {
  const message = `The schemas of ${counted(count, 'tool')} are nested deeper than ${maxDepth} levels and are left out.`
  return warning('too_deep', '/capabilities', message, 'Make the schemas flatter.')
}

function cutTo(count: number, total: number): Finding {
  const message = `An entry has at most ${maxEntryBytes} bytes: ${count} of ${counted(total, 'tool')} can be listed, without output schemas, icons and metadata.`
  return warning('too_large', '/capabilities', message, 'Shorten the input schemas and the descriptions.')
}

function unstable(count: number): Finding {
  const message = `The last ${count} readings each found another list of tools. It is read once a day now.`
  return warning('changes_often', '/capabilities', message, 'List the same tools to everybody, at any time.')
}
