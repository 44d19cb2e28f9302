import { createHash } from 'node:crypto'
import { isRecord, type Json } from '../../../schemas/json.ts'
import type { Principal } from '../../../schemas/scope.ts'

/**
 * Strong validators (RFC 9110 section 8.8.3) without hashing bodies: an entry's revision, or the registry's
 * revision for answers computed over all entries. `rendering` identifies everything else on which a representation
 * depends.
 */
export interface Etags {
  /** The tag of an answer that consists of one entry. */
  ofEntry(entry: Json, principal: Principal | null): string | undefined
  /**
   * The tag of an answer computed at a revision of the registry; `variant` is a letter for another rendering of it.
   */
  ofRegistry(revision: number | undefined, principal: Principal | null, variant: string): string | undefined
  /** The current variant of lists. */
  listVariant(): string
  /**
   * The latest revision in an If-Match header, the only one that may be current. An absent header gives 0, the
   * revision of no entry.
   */
  revision(header: string): number
}

/** `probes` counts the sweeps of liveness probes whose results are in lists. */
export function createEtags(rendering: string, probes: () => number = () => 0): Etags {
  const prefix = createHash('sha256').update(rendering).digest('base64url').slice(0, 8)
  const pattern = new RegExp(`^"${prefix}\\.e(\\d+)(?:-[a-z0-9]+)*(?:\\.[A-Za-z0-9_-]+)?(?:-(?:br|gzip))?"$`)

  /** A cached token yields the same principal object, so its digest is computed once. */
  const digests = new WeakMap<Principal, string>()

  function digestOf(principal: Principal): string {
    const cached = digests.get(principal) ?? digest(principal)
    digests.set(principal, cached)
    return cached
  }

  function tag(kind: string, revision: number | string, principal: Principal | null): string {
    return `"${prefix}.${kind}${revision}${principal ? `.${digestOf(principal)}` : ''}"`
  }
  return {
    ofEntry(entry, principal) {
      if (!isRecord(entry) || typeof entry.revision !== 'number') return undefined
      return tag('e', `${entry.revision}${livenessTag(entry)}${storedTag(entry, principal)}`, principal)
    },
    listVariant: () => (probes() > 0 ? `l${probes()}.r` : 'r'),
    ofRegistry: (revision, principal, variant) =>
      revision === undefined ? undefined : tag(variant, revision, principal),
    revision(header) {
      const named = header.split(',').map((candidate) => Number(pattern.exec(candidate.trim())?.[1] ?? 0))
      return Math.max(...named)
    },
  }
}

/** The liveness in an entry changes with each probe, and the entry's revision does not. */
function livenessTag({ liveness }: Record<string, unknown>): string {
  const at = isRecord(liveness) ? liveness.checked_at : null
  return typeof at === 'string' ? `-${Date.parse(at).toString(36)}` : ''
}

/** Which of the shown entries the caller has stored a credential for: no revision says so. */
export function storedTag(output: Json, principal: Principal | null): string {
  if (!principal || !isRecord(output)) return ''
  const entries = Array.isArray(output.agents) ? output.agents : [output]
  const marks = entries.map((entry) => (isRecord(entry) && entry.credential_stored === true ? '1' : '0'))
  const bits = BigInt(`0b0${marks.join('')}`)
  return bits === 0n ? '' : `-k${bits.toString(36)}`
}

/** Representations for different callers differ, so their tags must differ. */
function digest({ issuer, subject, scopes, namespaces }: Principal): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject, [...scopes], namespaces]))
    .digest('base64url')
    .slice(0, 6)
}

/** True if If-None-Match lists the tag (weak comparison). */
export function matches(header: string | undefined, etag: string | undefined): boolean {
  if (header === undefined || etag === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag)
}
