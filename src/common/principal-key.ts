/** The key of an (issuer, subject) pair, by which owners, quotas, tasks and sessions are stored and counted. */
export function principalKey({
  issuer,
  subject,
}: {
  readonly issuer: string
  readonly subject: string
}): string {
  return JSON.stringify([issuer, subject])
}

/** The pair of such a key. */
export function principalOf(key: string): { issuer: string; subject: string } {
  const [issuer, subject] = JSON.parse(key) as [string, string]
  return { issuer, subject }
}
