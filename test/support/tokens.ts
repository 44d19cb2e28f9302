import { SignJWT } from 'jose'
import type { Credentials } from '../transports/cases.ts'
import { signerOf, type TestGateway } from './gateway.ts'

/** A token for each kind of caller; undefined for the anonymous caller. */
export async function makeTokens(home: TestGateway): Promise<Record<Credentials, string | undefined>> {
  const { key, issuer } = await signerOf(home)
  const good = await home.token('stranger')
  const [head, payload = '', signature] = good.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const raised = Buffer.from(JSON.stringify({ ...claims, scope: 'admin' })).toString('base64url')

  const signed = (header: { kid?: string }, audience: string) =>
    new SignJWT({ scope: 'agents:read' })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('stranger')
      .setJti('1')
      .setExpirationTime('1h')
      .sign(key.private_key)
  return {
    none: undefined,
    good,
    reader: await home.token('stranger', { scopes: ['agents:read'] }),
    expired: await home.token('stranger', { ttl_s: -60 }),
    tampered: `${head}.${raised}.${signature}`,
    kidless: await signed({}, issuer),
    foreign: await signed({ kid: key.kid }, 'urn:somebody:else'),
    garbage: 'garbage',
  }
}
