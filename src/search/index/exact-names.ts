import { hash } from 'node:crypto'
import type { SearchDocument } from '../search-index.ts'
import { isCodeHost, packageParts } from './document-terms.ts'

/** 64 bits of the hash of an exact name: the first half finds slots, both halves tell names apart. */
export type NameHash = readonly [first: number, second: number]

/** The form of a name in which it is compared with texts. `com.example.*` and `com.example/` mean `com.example`. */
export function exactName(text: string): string {
  return text.slice(0, 300).normalize('NFKC').trim().toLowerCase().replace(/^@/, '').replace(open, '')
}

const open = /(?<=\w)[./*]+$/
const joint = /[-_./]/

/**
 * The exact names of a document: its title, its package name, and what its own registry calls the package, with and
 * without its scope; beside them the names of all that is in its namespaces. A single word, which a text may use for
 * what it means, is none of these.
 */
export function exactNamesOf({
  name,
  package_name,
}: Pick<SearchDocument, 'name' | 'package_name'>): ReadonlySet<string> {
  const parts = packageParts(package_name)
  const called = [parts.namespace ? `${parts.namespace}/${parts.name}` : parts.name, parts.name]
  const names = [name, package_name, ...called.filter((each) => joint.test(each))].map(exactName)
  return new Set([...names, ...namespacesOf(package_name).map(allIn)])
}

/** The name of all that is in a namespace. It is no exact name, so that nobody takes the rank of one by a longer name. */
export function allIn(namespace: string): string {
  return `${namespace}/*`
}

const maxNamespaces = 4

/** The namespaces that a package name is in, of two labels or more: `com.example` for `com.example.weather`. */
function namespacesOf(packageName: string): string[] {
  return [...packageName.matchAll(/[./]/g)]
    .map(({ index }) => packageName.slice(0, index))
    .filter((namespace) => mayBeNamespace(namespace) && !isCodeHost(namespace))
    .slice(0, maxNamespaces)
}

/** A namespace has two labels or more. */
export function mayBeNamespace(name: string): boolean {
  return name.includes('.')
}

/** Nobody finds another name with the same hash, so nobody takes the rank of an exact name by one. */
export function hashOf(exactName: string): NameHash {
  const bytes = hash('sha256', exactName, 'buffer')
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
}
