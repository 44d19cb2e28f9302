import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Where an optional package may be: in the folder of extras, and beside this program. */
export function placesOf(extras: string | undefined): string[] {
  return [...(extras ? [join(extras, 'package.json')] : []), import.meta.url]
}

/** A function that loads the modules of a place, and the path of a package there; undefined if the place lacks it. */
export function findPackage(
  name: string,
  place: string,
): { readonly require: NodeJS.Require; readonly path: string } | undefined {
  const require = createRequire(place)
  try {
    return { require, path: require.resolve(name) }
  } catch {
    return undefined
  }
}
