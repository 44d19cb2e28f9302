import { initialValues } from '../../schemas/entry-fields.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'

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
    taken_from: null,
    offer: null,
    hosted: false,
    ...initialValues,
    source_url: null,
    origin: null,
    server: null,
    card: null,
    stated: null,
    card_sha256: null,
    content_flags: [],
    signature: null,
    manifest: null,
    reading: null,
    access: null,
    proof: null,
    suspended: null,
    deprecated: null,
    check_at: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    deleted: false,
    versions_after: 0,
    revision: 0,
    ...overrides,
  }
}

/** A UUIDv7 that ends in the number. */
export function sampleId(number: number): string {
  return `01900000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`
}
