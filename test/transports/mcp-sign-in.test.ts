import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { UnauthorizedError as OldUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import { afterAll, expect, test } from 'vitest'
import { Browser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { allowed, instantLogin, redirectUri } from '../support/sign-in.ts'

/** The memory of an MCP client that signs in; it works with every official client in TypeScript. */
class SigningInClient {
  readonly redirectUrl = redirectUri
  readonly clientMetadata = { client_name: 'MCP host', redirect_uris: [redirectUri] }
  readonly #browser: Browser
  #information: OAuthClientInformationFull | undefined
  #tokens: OAuthTokens | undefined
  #verifier = ''
  #discovery: unknown
  /** Where the browser was sent after its user had allowed the client. */
  end: URL | undefined
  /** The requests that the user saw. */
  readonly requests: URL[] = []

  constructor(browser: Browser) {
    this.#browser = browser
  }

  state(): string {
    return 'state'
  }

  clientInformation(): OAuthClientInformationFull | undefined {
    return this.#information
  }

  saveClientInformation(information: unknown): void {
    this.#information = information as OAuthClientInformationFull
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    return this.#verifier
  }

  saveDiscoveryState(state: unknown): void {
    this.#discovery = state
  }

  // biome-ignore lint/suspicious/noExplicitAny: each client has its own type of this state
  discoveryState(): any {
    return this.#discovery
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.requests.push(url)
    this.end = await allowed(this.#browser, url.href)
  }
}

const home = await startGateway({}, { logins: [instantLogin()] })
afterAll(() => home[Symbol.asyncDispose]())

interface Session {
  listTools(): Promise<{ tools: readonly { readonly name: string }[] }>
  callTool(call: {
    name: string
    arguments: Record<string, unknown>
  }): Promise<{ readonly content?: unknown }>
  close(): Promise<void>
}

/** Calls a tool; where the client has to sign in first, it does so and calls again. */
async function call(session: Session, name: string, finish: () => Promise<void>): Promise<string> {
  const input = name === 'call_agent' ? { package_name: 'svc.registry', action: 'list_keys', params: {} } : {}
  try {
    return JSON.stringify(await session.callTool({ name, arguments: input }))
  } catch (thrown) {
    if (!(thrown instanceof UnauthorizedError || thrown instanceof OldUnauthorizedError))
      return String(thrown)
    await finish()
    return await call(session, name, () => Promise.reject(thrown))
  }
}

async function callsOf(session: Session, finish: () => Promise<void>): Promise<Record<string, string>> {
  const { tools } = await session.listTools()
  const results: Record<string, string> = {}
  for (const { name } of tools) results[name] = await call(session, name, finish)
  return results
}

const official = {
  'client 2.4': async (provider: SigningInClient) => {
    const transport = new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`), {
      authProvider: provider,
    })
    const session = new Client({ name: 'test', version: '1' })
    await session.connect(transport)
    return [session, () => transport.finishAuth(provider.end?.searchParams ?? new URLSearchParams())] as const
  },
  'sdk 1.32': async (provider: SigningInClient) => {
    const transport = new OldTransport(new URL(`${home.url}/mcp`), { authProvider: provider })
    const session = new OldClient({ name: 'test', version: '1' })
    await session.connect(transport as Parameters<OldClient['connect']>[0])
    return [session, () => transport.finishAuth(provider.end?.searchParams.get('code') ?? '')] as const
  },
}

test.each(Object.entries(official))(
  '%s, given the address alone, signs in once and calls every tool',
  async (_, connect) => {
    const provider = new SigningInClient(new Browser(home.url))
    const [session, finish] = await connect(provider)
    const results = await callsOf(session as Session, finish)
    await session.close()
    expect(Object.keys(results).length).toBeGreaterThan(5)
    for (const result of Object.values(results)) {
      expect(result).not.toMatch(/unauthenticated|Unauthorized|insufficient_scope|"forbidden"/)
    }
    expect(results.call_agent).toContain('keys')
    expect(provider.requests.map((url) => url.searchParams.get('scope'))).toEqual(['agents:read a2a:call'])
    expect(provider.requests[0]?.searchParams.get('resource')).toBe(`${home.url}/mcp`)
  },
)
