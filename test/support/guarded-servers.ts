import { toNodeHandler } from '@modelcontextprotocol/node'
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import express from 'express'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { serve, type TestServer } from '../net/support.ts'

/** An MCP server of the official SDK that takes tokens of one issuer for itself alone. */
export interface GuardedServer extends TestServer {
  readonly url: string
  /** The tokens of calls that it answered, and of whom. */
  readonly calls: { readonly token: string; readonly subject: string; readonly tool: string }[]
  /** Tokens that it refuses from now on. */
  readonly revoked: Set<string>
}

const tools = ['whoami', 'write'].map((name) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object' as const },
}))

/** `whoami` needs the scope `read`, `write` needs `write` too. */
export async function startGuardedServer(issuer: string): Promise<GuardedServer> {
  const app = express()
  const home = await serve(app)
  const url = `${home.origin}/mcp`
  const calls: GuardedServer['calls'] = []
  const revoked = new Set<string>()
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const verifier = {
    async verifyAccessToken(token: string) {
      if (revoked.has(token)) throw new InvalidTokenError('The token is revoked.')
      const { payload } = await jwtVerify(token, keys, { issuer, audience: url }).catch((fault: Error) => {
        throw new InvalidTokenError(fault.message)
      })
      return {
        token,
        clientId: String(payload.client_id),
        scopes: String(payload.scope ?? '').split(' '),
        expiresAt: payload.exp ?? 0,
        extra: { subject: payload.sub },
      }
    },
  }
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: 'guarded', version: '1' }, { capabilities: { tools: {} } })
      server.setRequestHandler('tools/list', () => ({ tools }))
      server.setRequestHandler('tools/call', ({ params }, { http }) => {
        const auth = http?.authInfo as { token: string; extra: { subject: string } } | undefined
        const subject = auth?.extra.subject ?? 'nobody'
        calls.push({ token: auth?.token ?? '', subject, tool: params.name })
        return { content: [{ type: 'text', text: subject }], structuredContent: { subject } }
      })
      return server
    },
    { legacy: 'stateless' },
  )
  const node = toNodeHandler(handler)
  const resourceMetadataUrl = `${home.origin}/.well-known/oauth-protected-resource/mcp`
  app.use(
    mcpAuthMetadataRouter({
      oauthMetadata: {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
      },
      resourceServerUrl: new URL(url),
      scopesSupported: ['read'],
    }),
  )
  app.post('/mcp', express.json(), (request, response, next) => {
    const needs = request.body?.params?.name === 'write' ? ['read', 'write'] : ['read']
    return requireBearerAuth({ verifier, requiredScopes: needs, resourceMetadataUrl })(
      request,
      response,
      next,
    )
  })
  app.post('/mcp', (request, response) => void node(request as never, response, request.body))
  return {
    ...home,
    url,
    calls,
    revoked,
    [Symbol.asyncDispose]: async () => {
      await handler.close()
      await home[Symbol.asyncDispose]()
    },
  }
}
