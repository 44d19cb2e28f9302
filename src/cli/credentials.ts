import type { Credential, SignInAddress } from '../../schemas/credential.ts'
import { print, say } from './output.ts'
import { askRegistry } from './send.ts'

export async function listCredentials(json: boolean): Promise<void> {
  const { credentials } = await askRegistry<{ credentials: Credential[] }>('list_credentials')
  if (json) return print({ credentials })
  for (const credential of credentials) print(line(credential))
  if (credentials.length === 0) say('You have stored no credential for an agent, and are signed in to none.')
}

/** Prints the address and, for people, what it is for. */
export async function connectAgent(agent: string, json: boolean): Promise<void> {
  const address = await askRegistry<SignInAddress>('connect_agent', { agent })
  if (json) return print({ ...address })
  print(`Open this address in a browser until ${address.expires_at}, to sign in at ${address.issuer}:`)
  print(address.sign_in_url)
}

export async function forgetAgent(agent: string, json: boolean): Promise<void> {
  await askRegistry('delete_credential', { agent })
  print(json ? { forgotten: agent } : `forgot ${agent}`)
}

function line({ agent, kind, header, variable, origin, sign_in }: Credential): string {
  if (!sign_in) return `${agent} ${kind} ${variable ?? header} for ${origin}`
  const { issuer, scopes, expires_at } = sign_in
  const until = expires_at === null ? '' : ` until ${expires_at}`
  return `${agent} ${kind} at ${issuer}${until}: ${scopes.join(' ') || 'no scopes'}`
}
