/** One text for an (issuer, subject) pair: what owners, quotas, tasks and sessions are stored and counted by. */
export function principalKey({
  issuer,
  subject,
}: {
  readonly issuer: string
  readonly subject: string
}): string {
  return JSON.stringify([issuer, subject])
}
