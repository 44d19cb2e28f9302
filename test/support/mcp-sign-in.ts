import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Browser } from './browser.ts'
import { allowed, redirectUri } from './sign-in.ts'

/** The memory of an MCP client that signs in; it works with every official client in TypeScript. */
export class SigningInClient {
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
