import { packageNameOf } from '../../../schemas/names.ts'
import type { Reference } from '../../store/store.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function isId(asked: string): boolean {
  return uuid.test(asked)
}

/** An id, a package name or an A2A address, as a store looks it up. */
export function toReference(asked: string): Reference {
  if (isId(asked)) return { id: asked.toLowerCase() }
  // No name has a NUL, and PostgreSQL refuses to be asked for one.
  return { package_name: packageNameOf(asked.toLowerCase()).replaceAll('\0', '\ufffd') }
}
