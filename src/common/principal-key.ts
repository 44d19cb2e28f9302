interface Pair {
  readonly issuer: string
  readonly subject: string
}

/** True if both are one (issuer, subject) pair. */
export function isSamePrincipal(left: Pair, right: Pair): boolean {
  return left.issuer === right.issuer && left.subject === right.subject
}

/** The key of an (issuer, subject) pair, by which owners, quotas, tasks and sessions are stored and counted. */
export function principalKey({ issuer, subject }: Pair): string {
  return JSON.stringify([issuer, subject])
}

/** The pair of such a key. */
export function principalOf(key: string): Pair {
  const [issuer, subject] = JSON.parse(key) as [string, string]
  return { issuer, subject }
}
