import { initialEntry, type StoredEntry } from '../../src/store/stored-entry.ts'

let made = 0

/** An ACTIVE entry without an owner; name and id are unique unless they are given. */
export function sampleEntry(overrides: Partial<StoredEntry> = {}): StoredEntry {
  made += 1
  return {
    id: sampleId(made),
    package_name: `com.sample.agent-${made}`,
    name: 'Sample',
    description: 'Does something.',
    state: 'ACTIVE',
    verification_level: 'unclaimed',
    owner: null,
    hosted: false,
    ...initialEntry,
    source_url: null,
    card: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...overrides,
  }
}

/** A UUIDv7 that ends in the number. */
export function sampleId(number: number): string {
  return `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
}
