/** A version of Python or of a Python package in the parts that order it (PEP 440); a pre-release has letters. */
interface PythonVersion {
  readonly release: readonly number[]
  readonly isPrerelease: boolean
}

/** Normal form of a version: `V1.02` and `1.2` are the same. */
export function normalVersion(version: string): string {
  return version
    .trim()
    .toLowerCase()
    .replace(/^v/, '')
    .replaceAll(/(^|[.!+a-z])0+(?=\d)/g, '$1')
}

export function parseVersion(version: string): PythonVersion {
  const text = normalVersion(version).replace(/^\d+!/, '')
  const release = /^\d+(?:\.\d+)*/.exec(text)?.[0] ?? '0'
  const rest = text.slice(release.length).replace(/\+.*$/, '')
  return {
    release: release.split('.').map(Number),
    isPrerelease: /^[._-]?(?:a|b|c|rc|alpha|beta|pre|preview|dev)/.test(rest),
  }
}

export function compareReleases(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** True if the version satisfies specifiers such as `>=3.10,<4`; specifiers that are not understood count as satisfied. */
export function satisfiesPython(version: string, specifiers: string): boolean {
  const { release } = parseVersion(version)
  return specifiers.split(',').every((specifier) => {
    const [, operator = '', bound = ''] =
      /^\s*(~=|==|!=|<=|>=|<|>)\s*([\d.]+(?:\.\*)?)\s*$/.exec(specifier) ?? []
    const limit = parseVersion(bound.replace(/\.\*$/, '')).release
    // `.*` and `~=` compare as many parts as they state.
    const isPrefix = compareReleases(release.slice(0, limit.length), limit) === 0
    const order = compareReleases(release, limit)
    switch (operator) {
      case '>=':
        return order >= 0
      case '<=':
        return order <= 0
      case '>':
        return order > 0
      case '<':
        return order < 0
      case '==':
        return bound.endsWith('.*') ? isPrefix : order === 0
      case '!=':
        return !(bound.endsWith('.*') ? isPrefix : order === 0)
      case '~=':
        return order >= 0 && compareReleases(release.slice(0, limit.length - 1), limit.slice(0, -1)) === 0
      default:
        return true
    }
  })
}
