import { parse } from 'semver'

/** A number of a version as text that sorts as the number does; semver's numbers are below 2^53. */
const digits = 16
/** Sorts after whatever a pre-release begins with. */
const release = '~'

/**
 * A version as a text whose order, byte by byte, is the precedence of Semantic Versioning 2.0.0 section 11; the empty
 * text, before all others, where it is none. What only differs in build metadata is the same.
 */
export function precedenceOf(version: string | null): string {
  const parsed = version === null ? null : parse(version)
  if (!parsed) return ''
  const { major, minor, patch, prerelease } = parsed
  const core = [major, minor, patch].map(padded).join('.')
  if (prerelease.length === 0) return `${core}${release}`
  return `${core}-${prerelease.map(identifier).join('')}`
}

/** Ends with what sorts before every character of an identifier, so that of two the one that goes on is the later. */
function identifier(part: string | number): string {
  return typeof part === 'number' ? `0${padded(part)}!` : `1${part}!`
}

function padded(number: number): string {
  return String(number).padStart(digits, '0')
}
