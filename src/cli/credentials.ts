import type { Credential, SignInAddress } from '../../schemas/credential.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

const to = 'svc.registry'

export async function listCredentials(json: boolean): Promise<void> {
  await using client = await openClient()
  const listed = await client.send({ to, action: 'list_credentials' })
  const { credentials } = listed as unknown as { credentials: Credential[] }
  if (json) print({ credentials })
  else for (const credential of credentials) print(line(credential))
}

/** Prints the address and, for people, what it is for. */
export async function connectAgent(agent: string, json: boolean): Promise<void> {
  await using client = await openClient()
  const address = (await client.send({
    to,
    action: 'connect_agent',
    params: { agent },
  })) as unknown as SignInAddress
  if (json) return print({ ...address })
  print(`Open this address in a browser until ${address.expires_at}, to sign in at ${address.issuer}:`)
  print(address.sign_in_url)
}

export async function forgetAgent(agent: string, json: boolean): Promise<void> {
  await using client = await openClient()
  await client.send({ to, action: 'delete_credential', params: { agent } })
  print(json ? { forgotten: agent } : `forgot ${agent}`)
}

function line({ agent, kind, header, variable, origin, sign_in }: Credential): string {
  if (!sign_in) return `${agent} ${kind} ${variable ?? header} for ${origin}`
  const { issuer, scopes, expires_at } = sign_in
  const until = expires_at === null ? '' : ` until ${expires_at}`
  return `${agent} ${kind} at ${issuer}${until}: ${scopes.join(' ') || 'no scopes'}`
}
