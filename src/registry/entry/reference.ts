import { type Details, Failure } from '../../../schemas/failure.ts'
import { packageNameOf } from '../../../schemas/names.ts'
import type { Reference } from '../../store/store.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isId(agent: string): boolean {
  return uuid.test(agent)
}

/** An id, a package name or an A2A address as a store key. */
export function toReference(agent: string): Reference {
  if (isId(agent)) return { id: agent.toLowerCase() }
  // Names contain no NUL, and PostgreSQL refuses queries that do.
  return { package_name: packageNameOf(agent.toLowerCase()).replaceAll('\0', '\ufffd') }
}

/** The failure for an agent that does not exist, or of which the caller may not know. */
export function unlisted(agent: string, details: Details = {}): Failure {
  return new Failure('not_found', `No agent is listed as ${agent}.`, details)
}
