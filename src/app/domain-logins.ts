import { Failure } from '../../schemas/failure.ts'
import type { DomainLogin, RegistryToken } from '../../schemas/server.ts'
import { mintToken } from '../auth/issuer.ts'
import type { ProveLogin } from '../registry/verification/domain-login.ts'
import type { Identity } from './identity.ts'
import type { Runtime } from './runtime.ts'

/** The official registry's tokens live as long. */
const life_s = 300
const scopes = ['agents:read', 'agents:write', 'agents:publish'] as const
/** The namespace of who proves nothing, at the official registry too. */
const anonymous = 'io.modelcontextprotocol.anonymous'

/** Logins as the publisher command of the MCP registry makes them: a short token for the namespace of a domain. */
export function openDomainLogins(
  { config, clock }: Pick<Runtime, 'config' | 'clock'>,
  { ring, issuer }: Pick<Identity, 'ring' | 'issuer'>,
  prove: ProveLogin,
) {
  async function tokenFor(subject: string, namespace: string): Promise<RegistryToken> {
    const grant = { subject, scopes, namespaces: [namespace], audience: [ring.name], ttl_s: life_s }
    const registry_token = await mintToken(await ring.signing(), issuer, grant, clock)
    return { registry_token, expires_at: Math.floor(clock() / 1000) + life_s }
  }

  return {
    async logIn({ method, ...stated }: DomainLogin, signal: AbortSignal): Promise<RegistryToken> {
      if (method === 'none') {
        if (config.DRAGOMAN_MCP_ANONYMOUS === 'on') return await tokenFor('anonymous', anonymous)
        throw new Failure(
          'not_configured',
          'This registry does not accept publications without a login (none).',
          {
            hint: 'Log in with dns or http. The operator may set DRAGOMAN_MCP_ANONYMOUS=on.',
          },
        )
      }
      const { timestamp, signed_timestamp } = stated
      const domain = stated.domain?.toLowerCase().replace(/\.$/, '')
      if (domain === undefined || timestamp === undefined || signed_timestamp === undefined) {
        const detail = 'A login by a domain needs domain, timestamp and signed_timestamp.'
        throw new Failure('invalid_request', detail, { errors: [{ pointer: '', detail }] })
      }
      await prove({ method, domain, timestamp, signed_timestamp }, signal)
      return await tokenFor(`domain:${domain}`, domain.split('.').reverse().join('.'))
    },
  }
}
