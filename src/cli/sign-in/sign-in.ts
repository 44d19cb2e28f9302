import { setTimeout as wait } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { Failure } from '../../../schemas/failure.ts'
import { localIssuer } from '../../../schemas/identity.ts'
import { type Config, readConfig, readUserFolders } from '../../app/config.ts'
import { changeSignedIn, readSignedIn, signedInPath } from '../../app/signed-in.ts'
import { ask, openClient } from '../client.ts'
import { openInBrowser } from '../open.ts'
import { print, say } from '../output.ts'
import { awaitDecision, findIssuer, requestDevice, revoke } from './device.ts'
import { printLoginLink } from './link.ts'
import { accessToken } from './session.ts'

/**
 * Signs this user in at a gateway, to which later commands talk. Without a gateway it prints a link that signs the
 * browser in at the gateway on this machine.
 */
export async function logIn(
  url: string | undefined,
  { browser = true }: { readonly browser?: boolean },
  json: boolean,
): Promise<void> {
  const config = readConfig()
  const gateway = url === undefined ? config.DRAGOMAN_URL : gatewayAt(url)
  if (gateway === undefined) return await printLoginLink(config, json)
  const issuer = await findIssuer(gateway)
  const device = await requestDevice(issuer)
  const { user_code, verification_uri, verification_uri_complete } = device
  say(`Open ${verification_uri} and enter the code ${user_code}`)
  if (browser && process.stdout.isTTY) await openInBrowser(verification_uri_complete ?? verification_uri)
  const session = await awaitDecision(issuer, device, wait)
  await changeSignedIn(signedInPath(readUserFolders()), async ({ gateways }) => [
    { current: gateway, gateways: { ...gateways, [gateway]: session } },
    undefined,
  ])
  if (json) print({ gateway, signed_in: true })
  else say(`Signed in. Commands now talk to ${gateway}, until you run dragoman logout.`)
}

function gatewayAt(text: string): string {
  const url = URL.parse(text)
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username) {
    return url.href.replace(/\/+$/, '')
  }
  throw new Failure('invalid_request', `${text} is not the address of a gateway.`, {
    hint: 'Give an address such as https://registry.example.',
  })
}

/** Ends the sign-in at a gateway, there and here. */
export async function logOut(url: string | undefined, json: boolean): Promise<void> {
  const path = signedInPath(readUserFolders())
  const gateway = url === undefined ? readSignedIn(path).current : gatewayAt(url)
  if (gateway === null) throw new Failure('invalid_request', 'You are not signed in.')
  const session = await changeSignedIn(path, async ({ current, gateways }) => {
    const { [gateway]: ended, ...others } = gateways
    return [{ current: current === gateway ? null : current, gateways: others }, ended]
  })
  if (session === undefined) throw new Failure('invalid_request', `You are not signed in at ${gateway}.`)
  const fault = await revoke(session).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (json) print({ gateway, signed_in: false, revoked: fault === undefined })
  else if (fault === undefined) say(`Signed out at ${gateway}.`)
  else say(`Signed out here. ${gateway} did not confirm it, so the sign-in there ends by itself.`)
}

/** Prints as whom commands act, and where. */
export async function whoAmI(json: boolean): Promise<void> {
  const config = readConfig()
  const found =
    config.DRAGOMAN_URL === undefined ? operatorOf(config) : await callerAt(config.DRAGOMAN_URL, config)
  if (json) return print(found)
  for (const [name, value] of Object.entries(found)) {
    if (value !== null) print(`${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
  }
}

function operatorOf({ data }: Config) {
  return { acts_as: 'the operator of the data folder', data }
}

async function callerAt(gateway: string, config: Config) {
  const token = config.DRAGOMAN_TOKEN ?? (await accessToken(gateway))
  if (token === undefined) return { acts_as: 'nobody: you are not signed in', gateway }
  await using client = await openClient(config)
  // The gateway itself says whether the token is valid.
  await ask(client, 'get_usage')
  if (token.startsWith('drg_'))
    return { acts_as: 'the owner of an API key', gateway, key: token.slice(0, 12) }
  const {
    sub,
    sub_iss,
    iss,
    scope,
    ns,
    exp = 0,
  } = decodeJwt<{ sub_iss?: string; scope?: string; ns?: string[] }>(token)
  const issuer = sub_iss ?? iss
  return {
    acts_as: sub,
    gateway,
    issuer: issuer === localIssuer ? null : issuer,
    scopes: scope?.split(' ') ?? [],
    namespaces: ns ?? [],
    expires_at: new Date(exp * 1000).toISOString(),
  }
}
