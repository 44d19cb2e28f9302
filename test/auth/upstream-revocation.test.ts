import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createGrants } from '../../src/auth/upstream-sign-in/grants.ts'
import { serve } from '../net/support.ts'

test('a server that refuses to end a refresh token is still asked to end the access token', async () => {
  const ended: (string | null)[] = []
  await using server = await serve(async (request, response) => {
    const token = new URLSearchParams(await text(request)).get('token')
    if (token === 'refresh') {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end('{"error": "unsupported_token_type"}')
      return
    }
    ended.push(token)
    response.end()
  })
  const endpoint = (path: string) => `${server.origin}/${path}`
  const grants = createGrants({ fetch, clock: Date.now })
  const tokens = {
    access_token: 'access',
    refresh_token: 'refresh',
    expires_at: null,
    scopes: [],
    server: {
      issuer: server.origin,
      authorization_endpoint: endpoint('authorize'),
      token_endpoint: endpoint('token'),
      revocation_endpoint: endpoint('revoke'),
    },
    client: { client_id: 'gateway' },
  }
  await expect(grants.revoke(tokens, AbortSignal.timeout(5000))).rejects.toMatchObject({
    error: 'unsupported_token_type',
  })
  expect(ended).toEqual(['access'])
})
