/** Somebody who logged in, as the issuer names them. */
export interface Person {
  readonly issuer: string
  readonly subject: string
  /** A name for people to read. */
  readonly name: string
  /** Name prefixes that the login proves, such as `io.github.user`. */
  readonly namespaces: readonly string[]
}

/** The state of a login that is in progress, as JSON. It holds secrets and never reaches the browser. */
export type LoginState = Readonly<Record<string, string>>

/** A way for people to log in at another issuer, by a redirect of their browser. */
export interface Login {
  /** Names the login in addresses: `github`. */
  readonly id: string
  /** For people to read: `GitHub`. */
  readonly title: string
  /** The issuer of its persons. API keys of its persons stay valid while the login is configured. */
  readonly issuer: string
  /**
   * Where to send the browser, and what to keep for `finish`. `callback` is the address here that the browser returns
   * to. Throws Failure `unavailable` if the issuer does not answer.
   */
  begin(callback: string): Promise<{ readonly url: string; readonly state: LoginState }>
  /**
   * The person behind the browser that returned. `returned` is the whole address that it asked for, below `callback`.
   * Throws Failure `unauthenticated` if the issuer refused or the answer is not that of this login.
   */
  finish(callback: string, returned: URL, state: LoginState, signal: AbortSignal): Promise<Person>
}
