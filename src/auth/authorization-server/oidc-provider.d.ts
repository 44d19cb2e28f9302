/** The part of oidc-provider that is used here; the package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  /** A request, as the functions of the configuration get it. */
  export interface Context {
    readonly req: IncomingMessage
    readonly path: string
    status: number
    type: string
    body: unknown
    readonly response: { get(name: string): string }
    set(headers: Readonly<Record<string, string>>): void
    remove(name: string): void
    readonly oidc: {
      readonly route: string
      readonly params?: Readonly<Record<string, string | readonly string[] | undefined>>
      readonly client?: Client
      readonly entities: Readonly<Record<string, TokenSource | undefined>>
      readonly session?: { readonly state?: { readonly secret: string } }
      urlFor(name: string): string
    }
  }

  export interface Client {
    readonly clientId: string
    readonly clientName?: string
    grantTypeAllowed(type: string): boolean
    readonly redirectUris: readonly string[]
  }

  interface TokenSource {
    readonly resourceIndicators?: ReadonlySet<string | undefined>
  }

  /** What is stored between a request and the answer of the user. */
  export interface Interaction {
    readonly uid: string
    readonly iat: number
    readonly prompt: {
      readonly name: string
      readonly details: { readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>> }
    }
    readonly params: Readonly<Record<string, string | undefined>>
    session: { readonly accountId: string } | undefined
    result: object | undefined
    /** Where the request goes on. */
    readonly returnTo: string
    persist(): Promise<string>
  }

  export interface Session {
    readonly jti: string
    readonly accountId?: string
    readonly loginTs?: number
    loginAccount(details: { readonly accountId: string; readonly loginTs: number }): void
    resetIdentifier(): void
    save(ttl_s: number): Promise<string>
    destroy(): Promise<void>
  }

  interface Grant {
    addResourceScope(resource: string, scope: string): void
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  /** A signed token before its signature. */
  export interface StructuredToken {
    header: object | undefined
    payload: Record<string, unknown>
  }

  export interface Payload {
    readonly uid?: string
    readonly userCode?: string
    readonly grantId?: string
    readonly accountId?: string
    readonly [name: string]: unknown
  }

  export interface Adapter {
    upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>
    find(id: string): Promise<Payload | undefined>
    findByUid(uid: string): Promise<Payload | undefined>
    findByUserCode(userCode: string): Promise<Payload | undefined>
    consume(id: string): Promise<void>
    destroy(id: string): Promise<void>
    revokeByGrantId(grantId: string): Promise<void>
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    proxy: boolean
    readonly Session: { new (): Session; find(id: string): Promise<Session | undefined> }
    readonly Grant: { new (fields: { accountId: string; clientId: string }): Grant }
    readonly Interaction: { find(uid: string): Promise<Interaction | undefined> }
    readonly Client: { find(id: string): Promise<Client | undefined> }
    callback(): RequestListener
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    on(event: 'error', listener: (fault: unknown) => void): void
    on(event: 'server_error', listener: (context: Context, fault: unknown) => void): void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionResult(request: IncomingMessage, response: ServerResponse, result: object): Promise<string>
  }

  export const errors: Readonly<Record<string, new (message?: string) => Error>>
}
