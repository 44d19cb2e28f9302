import { decodeJwt } from 'jose'
import {
  authorizationCodeGrantRequest,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from 'oauth4webapi'
import { z } from 'zod'
import { requestOptions } from '../logins/code-login.ts'
import { readableAnswer } from './answer.ts'
import { authenticationOf, UpstreamClient } from './clients.ts'
import { ServerMetadata } from './metadata.ts'
import { scopesIn } from './requirement.ts'

/** The tokens of one caller for one agent, with what renews and ends them. It is stored sealed. */
export const Tokens = z.object({
  access_token: z.string(),
  refresh_token: z.string().exactOptional(),
  /** Milliseconds since the epoch; null if the server does not say. */
  expires_at: z.number().nullable(),
  scopes: z.array(z.string()),
  server: ServerMetadata,
  client: UpstreamClient,
  resource: z.string().exactOptional(),
})
export type Tokens = z.infer<typeof Tokens>

/** An authorization that a browser brought back, with what this gateway kept for it. */
export interface Authorization {
  readonly server: ServerMetadata
  readonly client: UpstreamClient
  readonly resource?: string | undefined
  readonly scopes: readonly string[]
  readonly state: string
  readonly verifier: string
  readonly redirect_uri: string
}

/** Visible ASCII without spaces: what a header can carry. */
const tokenForm = /^[\x21-\x7e]{1,8000}$/
const maxLifetimeSeconds = 10 * 365 * 86_400

interface TokensOptions {
  readonly fetch: typeof globalThis.fetch
  readonly clock: () => number
}

/** The grants of OAuth that this gateway uses as a client. Each rejects with what was wrong. */
export type Grants = ReturnType<typeof createGrants>

export function createGrants({ fetch, clock }: TokensOptions) {
  function tokensOf(
    response: TokenEndpointResponse,
    before: Omit<Tokens, 'access_token' | 'expires_at'>,
  ): Tokens {
    const { access_token, refresh_token = before.refresh_token, expires_in, scope, token_type } = response
    if (token_type !== 'bearer') throw new Error('The token is not one of the type Bearer.')
    if (!tokenForm.test(access_token)) throw new Error('The token cannot be sent in a header.')
    assertAudience(access_token, before)
    const seconds = Math.min(expires_in ?? 0, maxLifetimeSeconds)
    return {
      ...before,
      access_token,
      ...(refresh_token !== undefined && { refresh_token }),
      expires_at: expires_in === undefined ? null : clock() + seconds * 1000,
      scopes: scope === undefined ? before.scopes : scopesIn(scope),
    }
  }

  const resourceIn = ({ resource }: { readonly resource?: string | undefined }) =>
    resource === undefined ? {} : { additionalParameters: { resource } }

  return {
    /** The tokens for the answer of an authorization endpoint (RFC 6749, RFC 7636, RFC 9207). */
    async redeem(authorization: Authorization, returned: URL, signal: AbortSignal): Promise<Tokens> {
      const { server, client, resource, scopes, state, verifier, redirect_uri } = authorization
      const answer = validateAuthResponse(server, client, returned, state)
      const response = await authorizationCodeGrantRequest(
        server,
        client,
        authenticationOf(client),
        answer,
        redirect_uri,
        verifier,
        { ...requestOptions(fetch, signal), ...resourceIn({ resource }) },
      )
      const answered = await readableAnswer(response, 200)
      const tokens = await processAuthorizationCodeResponse(server, client, answered)
      return tokensOf(tokens, {
        server,
        client,
        scopes: [...scopes],
        ...(resource !== undefined && { resource }),
      })
    },

    /** New tokens for a refresh token; the refresh token stays where the server gives no new one. */
    async refresh(tokens: Tokens & { refresh_token: string }, signal: AbortSignal): Promise<Tokens> {
      const { server, client, refresh_token } = tokens
      const response = await refreshTokenGrantRequest(
        server,
        client,
        authenticationOf(client),
        refresh_token,
        { ...requestOptions(fetch, signal), ...resourceIn(tokens) },
      )
      const answered = await readableAnswer(response, 200)
      return tokensOf(await processRefreshTokenResponse(server, client, answered), tokens)
    },

    /** Ends the tokens at their server, where it permits this (RFC 7009). */
    async revoke(
      { server, client, access_token, refresh_token }: Tokens,
      signal: AbortSignal,
    ): Promise<void> {
      if (server.revocation_endpoint === undefined) return
      const options = requestOptions(fetch, signal)
      // A server may end tokens of one kind alone (RFC 7009, section 2.2.1).
      const ended = await Promise.allSettled(
        [refresh_token, access_token].map(async (token) => {
          if (token === undefined) return
          await processRevocationResponse(
            await revocationRequest(server, client, authenticationOf(client), token, options),
          )
        }),
      )
      const failed = ended.find((each) => each.status === 'rejected')
      if (failed) throw failed.reason
    },
  }
}

/** True if the server has ended the grant or does not know the client: only a new sign-in helps. */
export function isOver(fault: unknown): boolean {
  return (
    fault instanceof ResponseBodyError &&
    ['invalid_grant', 'invalid_client', 'unauthorized_client'].includes(fault.error)
  )
}

/** True if the server has forgotten the registration of this gateway. */
export function isUnknownClient(fault: unknown): boolean {
  return fault instanceof ResponseBodyError && fault.error === 'invalid_client'
}

/**
 * Refuses a token for somebody else, where that can be seen: a JWT whose audiences are all addresses, and none of them of
 * this resource or its issuer.
 */
function assertAudience(token: string, { resource, server }: Pick<Tokens, 'resource' | 'server'>): void {
  const audiences = audiencesOf(token)
  if (resource === undefined || audiences.length === 0) return
  const origins = audiences.map((audience) => URL.parse(audience)?.origin)
  const own = new Set([resource, server.issuer].map((address) => new URL(address).origin))
  if (origins.every((origin) => origin !== undefined && origin !== 'null' && !own.has(origin))) {
    throw new Error('The token is for another resource.')
  }
}

function audiencesOf(token: string): string[] {
  try {
    const { aud = [] } = decodeJwt(token)
    return [aud].flat().filter((audience) => typeof audience === 'string')
  } catch {
    return []
  }
}
