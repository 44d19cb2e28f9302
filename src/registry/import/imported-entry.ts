import { isDeepStrictEqual } from 'node:util'
import { initialEntry, type StoredEntry } from '../../store/stored-entry.ts'
import { contentFlags } from '../entry/content-flags.ts'
import { fittingCapabilities, maxEntryBytes } from '../entry/entry-size.ts'
import type { Facts } from './read-line.ts'

/** What the source of an entry decides. */
type Stated = Facts & Partial<Pick<StoredEntry, 'origin' | 'deprecated' | 'suspended'>>

/** A public entry without an owner; undefined if it is too large. */
export function newEntry(facts: Stated, id: string, at: string): StoredEntry | undefined {
  const entry = fitting({
    ...initialEntry,
    id,
    state: 'ACTIVE',
    verification_level: 'unclaimed',
    owner: null,
    hosted: false,
    created_at: at,
    updated_at: at,
    ...facts,
  })
  return entry && { ...entry, content_flags: contentFlags(entry) }
}

/**
 * An entry with what its source states now: the same object if nothing has changed, undefined if it is too large.
 * Fields that an admin corrected stay, and so do tools that were read from the server.
 */
export function updatedEntry(entry: StoredEntry, facts: Stated, at: string): StoredEntry | undefined {
  const corrected = pick(entry, entry.stated ?? [])
  const isRead = facts.capabilities.length === 0 && entry.reading?.lists
  const next = fitting({ ...entry, ...facts, ...(isRead && pick(entry, ['capabilities'])), ...corrected })
  if (!next) return undefined
  if (isDeepStrictEqual(next, entry)) return entry
  return { ...next, content_flags: contentFlags(next), updated_at: at }
}

export function tooLarge(packageName: string): string {
  return `${packageName} would have more than ${maxEntryBytes} bytes without its capabilities.`
}

/** The entry with the capabilities that fit. */
function fitting(entry: StoredEntry): StoredEntry | undefined {
  const capabilities = fittingCapabilities(entry)
  return capabilities && { ...entry, capabilities }
}

function pick(entry: StoredEntry, fields: readonly string[]): Partial<StoredEntry> {
  return Object.fromEntries(fields.map((key) => [key, Reflect.get(entry, key)]))
}
