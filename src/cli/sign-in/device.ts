import {
  type AuthorizationServer,
  allowInsecureRequests,
  type DeviceAuthorizationResponse,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  discoveryRequest,
  None,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  processResourceDiscoveryResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  resourceDiscoveryRequest,
  revocationRequest,
  type TokenEndpointResponse,
} from 'oauth4webapi'
import { Failure } from '../../../schemas/failure.ts'
import type { SignedInSession } from '../../app/signed-in.ts'
import { commandLineClient } from '../../auth/authorization-server/clients.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'

/** The client id of the command line at every gateway. */
const client = { client_id: commandLineClient, token_endpoint_auth_method: 'none' } as const
const scope = 'agents:read agents:write agents:publish a2a:call'
/** RFC 8628 section 3.2, and the pause that section 3.5 adds. */
const interval_s = 5
const requestMilliseconds = 15_000

/** The authorization server of a gateway, and the resource that envelopes are sent to. */
interface Issuer {
  readonly server: AuthorizationServer
  readonly resource: string
}

const options = () => ({
  [allowInsecureRequests]: true,
  signal: AbortSignal.timeout(requestMilliseconds),
})

/** Reads where people sign in at a gateway (RFC 9728, RFC 8414). Throws Failure `not_configured` or `unavailable`. */
export async function findIssuer(gateway: string): Promise<Issuer> {
  const target = new URL(`${gateway}/a2a`)
  const { resource, authorization_servers: [name] = [] } = await asking(gateway, async () =>
    processResourceDiscoveryResponse(target, await resourceDiscoveryRequest(target, options())),
  )
  if (name === undefined) throw noSignIn(gateway)
  return { server: await findServer(name), resource }
}

async function findServer(name: string): Promise<AuthorizationServer> {
  const url = new URL(name)
  return await asking(name, async () =>
    processDiscoveryResponse(url, await discoveryRequest(url, { ...options(), algorithm: 'oauth2' })),
  )
}

/** Starts a sign-in on another device (RFC 8628). */
export async function requestDevice({ server, resource }: Issuer): Promise<DeviceAuthorizationResponse> {
  if (server.device_authorization_endpoint === undefined) throw noSignIn(server.issuer)
  const device = await asking(server.issuer, async () =>
    processDeviceAuthorizationResponse(
      server,
      client,
      await deviceAuthorizationRequest(server, client, None(), { scope, resource }, options()),
    ),
  )
  const { verification_uri, verification_uri_complete = verification_uri } = device
  return {
    ...device,
    verification_uri: pageOf(server, verification_uri),
    verification_uri_complete: pageOf(server, verification_uri_complete),
  }
}

/** The address as a page of the authorization server. A browser would start other programs for other addresses. */
function pageOf({ issuer }: AuthorizationServer, address: string): string {
  const url = URL.parse(address)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackUrl(url))
  if (url && isSafe && url.origin === new URL(issuer).origin) return url.href
  throw new Failure('upstream_invalid', `${issuer} names a page elsewhere for the sign-in.`)
}

/** Waits until the user has decided in the browser. Throws Failure `forbidden` or `deadline_exceeded`. */
export async function awaitDecision(
  issuer: Issuer,
  { device_code, interval = interval_s }: DeviceAuthorizationResponse,
  wait: (milliseconds: number) => Promise<unknown>,
): Promise<SignedInSession> {
  const { server, resource } = issuer
  let pause_s = interval
  while (true) {
    await wait(pause_s * 1000)
    const response = await deviceCodeGrantRequest(server, client, None(), device_code, {
      ...options(),
      additionalParameters: { resource },
    })
    try {
      return sessionOf(issuer, await processDeviceCodeResponse(server, client, response))
    } catch (fault) {
      if (!(fault instanceof ResponseBodyError)) throw unreachable(server.issuer, fault)
      if (fault.error === 'slow_down') pause_s += interval_s
      else if (fault.error !== 'authorization_pending') throw ended(fault)
    }
  }
}

function ended({ error }: ResponseBodyError): Failure {
  if (error === 'access_denied') return new Failure('forbidden', 'The sign-in was refused in the browser.')
  if (error === 'expired_token') {
    return new Failure('deadline_exceeded', 'The code has expired.', {
      hint: 'dragoman login gives another.',
    })
  }
  return new Failure('unauthenticated', `The sign-in ended (${error}).`, { hint: 'Sign in again.' })
}

/** A new session for an old one. Throws Failure `unauthenticated` if it has ended. */
export async function refresh(session: SignedInSession): Promise<SignedInSession> {
  const { issuer, resource, refresh_token } = session
  if (refresh_token === undefined) throw over()
  const server = await findServer(issuer)
  try {
    const response = await refreshTokenGrantRequest(server, client, None(), refresh_token, {
      ...options(),
      additionalParameters: { resource },
    })
    const tokens = await processRefreshTokenResponse(server, client, response)
    return { refresh_token, ...sessionOf({ server, resource }, tokens) }
  } catch (fault) {
    if (fault instanceof ResponseBodyError) throw over(fault)
    throw unreachable(issuer, fault)
  }
}

/** Ends a session at the gateway (RFC 7009). */
export async function revoke({ issuer, access_token, refresh_token }: SignedInSession): Promise<void> {
  const server = await findServer(issuer)
  for (const token of [refresh_token, access_token]) {
    if (token !== undefined) await revocationRequest(server, client, None(), token, options())
  }
}

function sessionOf({ server, resource }: Issuer, tokens: TokenEndpointResponse): SignedInSession {
  const { access_token, expires_in = 3600, refresh_token } = tokens
  return {
    issuer: server.issuer,
    resource,
    access_token,
    expires_at: Date.now() + expires_in * 1000,
    ...(refresh_token !== undefined && { refresh_token }),
  }
}

function over(cause?: unknown): Failure {
  return new Failure(
    'unauthenticated',
    'Your sign-in has ended.',
    { hint: 'Sign in again: dragoman login.' },
    cause,
  )
}

function noSignIn(name: string): Failure {
  return new Failure('not_configured', `Nobody can sign in at ${name} from a command line.`, {
    hint: 'Set DRAGOMAN_TOKEN to a token that its operator gave you.',
  })
}

async function asking<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (fault) {
    throw unreachable(name, fault)
  }
}

function unreachable(name: string, fault: unknown): Failure {
  if (fault instanceof Failure) return fault
  const message = `${name} does not answer as a Dragoman gateway, or has another address in its own documents.`
  return new Failure('unavailable', message, { hint: 'Give the base URL of the gateway.' }, fault)
}
