import { createRequire } from 'node:module'
import { join } from 'node:path'

/** An optional package, as a module finds it that lies where the package does. */
interface FoundPackage {
  readonly require: NodeJS.Require
  readonly path: string
}

/** Where an optional package is: in the folder of extras, then beside this program. */
export function findPackage(name: string, extras: string | undefined): FoundPackage[] {
  const places = [...(extras ? [join(extras, 'package.json')] : []), import.meta.url]
  return places.map((place) => createRequire(place)).flatMap((require) => resolved(name, require) ?? [])
}

function resolved(name: string, require: NodeJS.Require): FoundPackage | undefined {
  try {
    return { require, path: require.resolve(name) }
  } catch {
    return undefined
  }
}
