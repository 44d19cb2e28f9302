import type { TestGateway } from './gateway.ts'

/** Sets an entry as if its owner had proved a domain. */
export async function verify({ gateway }: TestGateway, package_name: string, domain: string): Promise<void> {
  const at = new Date(0).toISOString()
  const { revision } = await gateway.store.write(async (writer) => {
    const entry = await writer.entry({ package_name })
    if (!entry) throw new Error(`${package_name} is not listed.`)
    const proof = {
      method: 'dns',
      domain,
      proved_at: at,
      checked_at: at,
      failures: 0,
      failing_since: null,
      detail: null,
      card_sha256: null,
    } as const
    const verified = { ...entry, verification_level: 'domain_verified', proof } as const
    await writer.put(verified, { actor: null, action: 'verify' })
  })
  await gateway.tailer.caughtUp(revision)
}
