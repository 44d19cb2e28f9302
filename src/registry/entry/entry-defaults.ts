import type { StoredEntry } from '../../store/stored-entry.ts'

/** Initial values of the fields that the registry manages. */
export const blank = {
  stated: null,
  taken_from: null,
  offer: null,
  origin: null,
  server: null,
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
  deleted: false,
  versions_after: 0,
  revision: 0,
} as const satisfies Partial<StoredEntry>
