import parse from 'semver/functions/parse.js'

/** Digits that each number of a version is padded to, so that it sorts as text; semver's numbers are below 2^53. */
const digits = 16
/** Sorts after every first character of a pre-release, so that a release sorts after its pre-releases. */
const release = '~'

/**
 * A text whose byte order is the precedence of Semantic Versioning 2.0.0 section 11. It is empty for other versions,
 * which therefore sort first. Versions that differ only in build metadata have the same text.
 */
export function precedenceOf(version: string | null): string {
  const parsed = version === null ? null : parse(version)
  if (!parsed) return ''
  const { major, minor, patch, prerelease } = parsed
  const core = [major, minor, patch].map(padded).join('.')
  if (prerelease.length === 0) return `${core}${release}`
  return `${core}-${prerelease.map(identifier).join('')}`
}

/** Ends with a character that sorts before all characters of identifiers, so that a longer identifier sorts later. */
function identifier(part: string | number): string {
  return typeof part === 'number' ? `0${padded(part)}!` : `1${part}!`
}

function padded(number: number): string {
  return String(number).padStart(digits, '0')
}
