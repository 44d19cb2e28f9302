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
