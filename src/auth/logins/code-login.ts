import {
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  ClientSecretBasic,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import { Failure } from '../../../schemas/failure.ts'
import type { Login, Person } from './login.ts'

/** How one issuer does the authorization code flow. */
interface CodeLogin {
  readonly id: string
  readonly issuer: string
  readonly title: string
  readonly scope: string
  readonly client_id: string
  readonly client_secret?: string | undefined
  readonly has_id_token: boolean
  readonly fetch: typeof globalThis.fetch
  /** The metadata of the issuer. */
  readonly server: (signal: AbortSignal) => Promise<AuthorizationServer>
  /** The person that the tokens of the issuer stand for. */
  readonly personOf: (tokens: TokenEndpointResponse, signal: AbortSignal) => Promise<Person>
}

type Request = CustomFetchOptions<'GET' | 'POST', URLSearchParams | string | undefined>

/** The options of every request of oauth4webapi: our fetch takes text, and loopback issuers use plain HTTP. */
export function requestOptions(fetch: typeof globalThis.fetch, signal: AbortSignal) {
  const send = (url: string, { body, ...init }: Request) =>
    fetch(url, { ...init, body: body?.toString() ?? null } as RequestInit)
  return { [customFetch]: send, [allowInsecureRequests]: true, signal }
}

const beginMilliseconds = 10_000

/** A login by the authorization code flow with PKCE (RFC 6749 section 4.1, RFC 7636). */
export function createCodeLogin(login: CodeLogin): Login {
  const { id, issuer, title, client_id, client_secret, has_id_token, fetch } = login
  const client: Client = { client_id }
  const authentication = client_secret === undefined ? None() : ClientSecretBasic(client_secret)

  return {
    id,
    issuer,
    title,
    async begin(callback) {
      const { authorization_endpoint } = await serverOf(login, AbortSignal.timeout(beginMilliseconds))
      if (authorization_endpoint === undefined) throw away(title)
      const state = { state: generateRandomState(), verifier: generateRandomCodeVerifier() }
      const nonce = has_id_token ? { nonce: generateRandomNonce() } : {}
      const url = new URL(authorization_endpoint)
      const parameters = {
        response_type: 'code',
        client_id,
        redirect_uri: callback,
        scope: login.scope,
        state: state.state,
        code_challenge: await calculatePKCECodeChallenge(state.verifier),
        code_challenge_method: 'S256',
        ...nonce,
      }
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return { url: url.href, state: { ...state, ...nonce } }
    },
    async finish(callback, returned, { state = '', verifier = '', nonce }, signal) {
      const server = await serverOf(login, signal)
      try {
        const answer = validateAuthResponse(server, client, returned, state)
        const options = requestOptions(fetch, signal)
        const response = await authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          answer,
          callback,
          verifier,
          options,
        )
        const tokens = await processAuthorizationCodeResponse(server, client, response, {
          ...(nonce !== undefined && { expectedNonce: nonce, requireIdToken: true }),
        })
        return await login.personOf(tokens, signal)
      } catch (fault) {
        throw refusal(title, fault)
      }
    },
  }
}

async function serverOf({ server, title }: CodeLogin, signal: AbortSignal): Promise<AuthorizationServer> {
  try {
    return await server(signal)
  } catch (fault) {
    throw away(title, fault)
  }
}

function away(title: string, fault?: unknown): Failure {
  return new Failure('unavailable', `${title} did not give a valid answer. Try again later.`, {}, fault)
}

/** The person may have refused, or the answer may not be that of this login: both end it. */
function refusal(title: string, fault: unknown): Failure {
  const isAway = fault instanceof Failure && fault.code !== 'unauthenticated'
  if (isAway) return away(title, fault)
  return new Failure(
    'unauthenticated',
    `${title} did not confirm the login.`,
    { hint: 'Log in again.' },
    fault,
  )
}
