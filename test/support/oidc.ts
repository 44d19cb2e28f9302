import type { RequestListener } from 'node:http'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import Provider from 'oidc-provider'
import { serve } from '../net/support.ts'

interface Issuer extends AsyncDisposable {
  /** The name and the address of the issuer. */
  readonly issuer: string
  /** The paths of requests, in order. */
  readonly requests: string[]
  /** A token by client credentials, for a resource. */
  token(resource: string, scope: string): Promise<string>
  /** Replaces the signing key by a new one, and publishes only the new one. */
  rotate(): Promise<void>
  /** Answers every request with this status; 0 ends this. */
  fail(status: number): void
}

/** oidc-provider on loopback, with one client and JWT access tokens for any requested resource. */
export async function startIssuer(): Promise<Issuer> {
  const requests: string[] = []
  let failing = 0
  let handle: RequestListener | undefined
  const server = await serve((request, response) => {
    requests.push(request.url ?? '')
    if (failing === 0) return handle?.(request, response)
    response.writeHead(failing).end()
  })
  const issuer = server.origin

  async function rotate(): Promise<void> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    handle = providerOf(issuer, { ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' })
  }
  await rotate()
  return {
    issuer,
    requests,
    rotate,
    fail(status) {
      failing = status
    },
    async token(resource, scope) {
      const answer = await fetch(`${issuer}/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${Buffer.from('robot:secret').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope }),
      })
      const { access_token } = (await answer.json()) as { access_token: string }
      return access_token
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function providerOf(issuer: string, key: JWK): RequestListener {
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: 'robot',
        client_secret: 'secret',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        id_token_signed_response_alg: 'ES256',
        scope: 'registry:read registry:write registry:root',
      },
    ],
    scopes: ['registry:read', 'registry:write', 'registry:root'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: 'registry:read registry:write registry:root',
          audience: resource,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    extraTokenClaims: () => ({ groups: ['com.robot', 'com', 'Not A Name', 7] }),
  })
  return provider.callback()
}
