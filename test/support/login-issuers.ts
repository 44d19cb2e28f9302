import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { serve } from '../net/support.ts'

/** An issuer on loopback that logs everybody in at once, as the person of `user`. */
export interface LoginIssuer extends AsyncDisposable {
  readonly url: string
  /** The person who logs in: claims of the ID token, or the user of GitHub. */
  user: Record<string, unknown>
  /** How many requests have arrived. */
  requests: number
  /** Changes what the next answers say. */
  readonly lies: {
    iss?: string
    aud?: string
    nonce?: string
    error?: string
    status?: number
    token_endpoint?: string
  }
}

type Answer = (response: ServerResponse, status: number, body: unknown) => void

interface Grant {
  readonly challenge: string
  readonly redirect_uri: string
  readonly nonce: string | null
}

const answer: Answer = (response, status, body) =>
  void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))

async function startIssuer(
  handle: (issuer: LoginIssuer, request: IncomingMessage, response: ServerResponse, path: string) => unknown,
  user: Record<string, unknown>,
): Promise<LoginIssuer> {
  const server = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    issuer.requests += 1
    void handle(issuer, request, response, pathname)
  })
  const issuer: LoginIssuer = {
    url: server.origin,
    user,
    lies: {},
    requests: 0,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
  return issuer
}

/** The authorization and token endpoints that both kinds have. */
function createGrants() {
  const grants = new Map<string, Grant>()
  return {
    authorize(request: IncomingMessage, response: ServerResponse, { lies, url }: LoginIssuer): void {
      const { searchParams } = new URL(request.url ?? '/', 'http://x')
      const back = new URL(String(searchParams.get('redirect_uri')))
      back.searchParams.set('state', String(searchParams.get('state')))
      if (lies.error === undefined) {
        const code = randomUUID()
        grants.set(code, {
          challenge: String(searchParams.get('code_challenge')),
          redirect_uri: String(searchParams.get('redirect_uri')),
          nonce: searchParams.get('nonce'),
        })
        back.searchParams.set('code', code)
        if (lies.iss !== undefined) back.searchParams.set('iss', lies.iss === 'own' ? url : lies.iss)
      } else {
        back.searchParams.set('error', lies.error)
      }
      response.writeHead(302, { Location: back.href }).end()
    },
    async redeem(request: IncomingMessage): Promise<Grant | undefined> {
      const form = new URLSearchParams(await text(request))
      const grant = grants.get(form.get('code') ?? '')
      grants.delete(form.get('code') ?? '')
      const challenge = createHash('sha256')
        .update(String(form.get('code_verifier')))
        .digest('base64url')
      const isSame = grant?.challenge === challenge && grant.redirect_uri === form.get('redirect_uri')
      return isSame ? grant : undefined
    },
  }
}

/** An OpenID Connect issuer. */
export async function startOpenIdIssuer(): Promise<LoginIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const grants = createGrants()
  return await startIssuer(
    async (issuer, request, response, path) => {
      const { url, user, lies } = issuer
      if (lies.status !== undefined) return answer(response, lies.status, {})
      if (path === '/.well-known/openid-configuration') {
        return answer(response, 200, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: lies.token_endpoint ?? `${url}/token`,
          jwks_uri: `${url}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        })
      }
      if (path === '/authorize') return grants.authorize(request, response, issuer)
      if (path === '/jwks')
        return answer(response, 200, { keys: [{ ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256' }] })
      const grant = await grants.redeem(request)
      if (!grant) return answer(response, 400, { error: 'invalid_grant' })
      const id_token = await new SignJWT({ ...user, nonce: lies.nonce ?? grant.nonce })
        .setProtectedHeader({ alg: 'RS256', kid: '1' })
        .setIssuer(lies.iss ?? url)
        .setAudience(lies.aud ?? 'dragoman')
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey)
      return answer(response, 200, { access_token: 'opaque', token_type: 'Bearer', id_token })
    },
    { sub: 'ada-1', name: 'Ada' },
  )
}

/** GitHub's endpoints for OAuth apps, and its user. */
export async function startGitHub(): Promise<LoginIssuer> {
  const grants = createGrants()
  return await startIssuer(
    async (issuer, request, response, path) => {
      const { lies, user } = issuer
      if (path === '/login/oauth/authorize') return grants.authorize(request, response, issuer)
      if (path === '/user') return answer(response, lies.status ?? 200, user)
      // GitHub answers errors with 200.
      if (!(await grants.redeem(request))) return answer(response, 200, { error: 'bad_verification_code' })
      return answer(response, 200, { access_token: 'gho_1', token_type: 'bearer', scope: 'read:user' })
    },
    { id: 1815, login: 'Ada', name: null },
  )
}
