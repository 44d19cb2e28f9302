// Frozen with migration 0010: a copy of the code of its day, which is never edited.
import { hash } from 'node:crypto'

export interface VersionRow {
  entry_id: string
  revision: number
  version: string | null
  precedence: string
  published_at: string
  sha256: string
  document: string
}

type Document = Readonly<Record<string, unknown>>

const fields = [
  'package_name',
  'name',
  'description',
  'manifest_url',
  'tags',
  'category',
  'target',
  'version',
  'capabilities',
  'endpoints',
  'packages',
  'source_url',
  'card',
]

/** The first version of an entry that was published before versions were recorded. */
export function versionRow(
  entry: Document & { readonly id: string; readonly version: string | null },
  revision: number,
  at: string,
): VersionRow {
  const { id, version } = entry
  const content = Object.fromEntries(fields.map((field) => [field, entry[field] ?? null]))
  return {
    entry_id: id,
    revision,
    version,
    precedence: precedenceOf(version),
    published_at: at,
    sha256: hash('sha256', orderedText(content), 'hex'),
    document: JSON.stringify(content),
  }
}

function orderedText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}

const semantic =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:\d*[a-zA-Z-][a-zA-Z0-9-]*|0|[1-9]\d*)(?:\.(?:\d*[a-zA-Z-][a-zA-Z0-9-]*|0|[1-9]\d*))*))?(?:\+[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*)?$/

/** A version as a text that sorts by the precedence of Semantic Versioning 2.0.0; empty where it is none. */
function precedenceOf(version: string | null): string {
  const match = version === null || version.length > 256 ? null : semantic.exec(version.trim())
  if (!match) return ''
  const core = match.slice(1, 4).map(Number)
  if (core.some((number) => number > Number.MAX_SAFE_INTEGER)) return ''
  const text = core.map(padded).join('.')
  const prerelease = match[4]
  return prerelease === undefined ? `${text}~` : `${text}-${prerelease.split('.').map(identifier).join('')}`
}

function identifier(part: string): string {
  const isNumber = /^\d+$/.test(part) && Number(part) < Number.MAX_SAFE_INTEGER
  return isNumber ? `0${padded(Number(part))}!` : `1${part}!`
}

function padded(number: number): string {
  return String(number).padStart(16, '0')
}
