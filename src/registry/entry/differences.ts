import { isRecord } from '../../../schemas/json.ts'
import type { Difference } from '../../../schemas/version.ts'

/** The members that differ between two documents, as deep as both have members. */
export function differencesOf(before: unknown, after: unknown): Difference[] {
  return [...differing('', before, after)]
}

function* differing(field: string, before: unknown, after: unknown): Generator<Difference> {
  if (JSON.stringify(before) === JSON.stringify(after)) return
  const [old, changed] = [membersOf(before), membersOf(after)]
  if (!old || !changed) return yield { field: field || '/', before: before ?? null, after: after ?? null }
  for (const name of new Set([...old.keys(), ...changed.keys()]))
    yield* differing(`${field}/${name}`, old.get(name), changed.get(name))
}

/** Members by name; those of a list of named things, such as capabilities, by their names. */
function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (isRecord(value)) return new Map(Object.entries(value))
  if (!Array.isArray(value)) return undefined
  const named = new Map<string, unknown>()
  for (const item of value) {
    const name: unknown = isRecord(item) ? (item.id ?? item.name) : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}
