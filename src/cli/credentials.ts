import type { EntryDetail } from '../../schemas/card.ts'
import type { Credential, SignInAddress } from '../../schemas/credential.ts'
import { Failure } from '../../schemas/failure.ts'
import { fixedValue } from '../../schemas/package.ts'
import { askSecret, canAsk, readText } from './input.ts'
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

interface SetOptions {
  readonly header?: string
  readonly variable?: string
}

/** Stores a secret for an agent: from a file, from standard input, or typed at the terminal. */
export async function setCredential(
  agent: string,
  file: string | undefined,
  { header, variable }: SetOptions,
  json: boolean,
): Promise<void> {
  const place = variable === undefined ? { header: header ?? (await headerOf(agent)) } : { variable }
  const value = file === undefined ? await typedSecret(place) : (await readText(file)).trim()
  const credential = await askRegistry<Credential>('set_credential', { agent, ...place, value })
  print(json ? { ...credential } : `stored: ${line(credential)}`)
}

/** The header that an agent requires, else that of tokens. */
async function headerOf(agent: string): Promise<string> {
  const { endpoints } = await askRegistry<EntryDetail>('get_agent', { agent })
  const headers = endpoints.flatMap((endpoint) => endpoint.headers ?? [])
  return (
    headers.find((header) => header.is_required && fixedValue(header) === undefined)?.name ?? 'authorization'
  )
}

async function typedSecret({ header, variable }: SetOptions): Promise<string> {
  if (!canAsk()) {
    throw new Failure('invalid_request', 'Nobody can be asked here for the secret.', {
      hint: 'Give a file that holds it, or - for standard input.',
    })
  }
  const example = header?.toLowerCase() === 'authorization' ? ', such as Bearer TOKEN' : ''
  return await askSecret(`Value of ${variable ?? `the header ${header}`}${example} (not shown): `)
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
