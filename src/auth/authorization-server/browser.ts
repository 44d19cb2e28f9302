import type { IncomingMessage, ServerResponse } from 'node:http'
import type Provider from 'oidc-provider'
import type { Session } from 'oidc-provider'
import type { Person } from '../logins/login.ts'
import type { Accounts } from './accounts.ts'
import { cookieNames, lifetimes } from './lifetimes.ts'

/** The browser of a request: signed in as a person, with a session that has ended, or neither. */
interface Browser {
  readonly person: Person | null
  /** The cookie names a session that is over. */
  readonly expired: boolean
  /** Seconds since the epoch, to the millisecond; 0 if nobody is signed in. */
  readonly signedInAt: number
  /** The secret of the session, for its forms. */
  readonly session: string
}

interface BrowsersOptions {
  readonly provider: () => Promise<Provider>
  readonly accounts: Accounts
  readonly isSecure: () => boolean
}

export type Browsers = ReturnType<typeof createBrowsers>

/** Sessions of browsers. Their cookie counts at the pages and the authorization endpoints alone. */
export function createBrowsers({ provider, accounts, isSecure }: BrowsersOptions) {
  const cookieName = () => cookieNames(isSecure()).session

  async function sessionOf(request: IncomingMessage): Promise<Session | undefined> {
    const cookie = readCookie(request, cookieName())
    return cookie === undefined ? undefined : await (await provider()).Session.find(cookie)
  }

  return {
    async of(request: IncomingMessage): Promise<Browser> {
      const session = await sessionOf(request)
      const person = session?.accountId === undefined ? undefined : await accounts.find(session.accountId)
      return {
        person: person ?? null,
        expired: session === undefined && readCookie(request, cookieName()) !== undefined,
        signedInAt: (person && session?.loginTs) ?? 0,
        session: person && session ? session.jti : '',
      }
    },

    /** Begins a session with a new secret, so that nobody can know it before. */
    async signIn(request: IncomingMessage, response: ServerResponse, person: Person): Promise<void> {
      const { Session } = await provider()
      const accountId = await accounts.put(person)
      const before = await sessionOf(request)
      const isSame = before?.accountId === accountId
      if (before && !isSame) await before.destroy()
      const session = before && isSame ? before : new Session()
      if (session === before) session.resetIdentifier()
      // The library counts whole seconds, on the clock of the machine; revocations count milliseconds.
      session.loginAccount({ accountId, loginTs: Date.now() / 1000 })
      await session.save(lifetimes.Session)
      setCookie(response, cookieName(), session.jti, { secure: isSecure(), max_age_s: lifetimes.Session })
    },

    async signOut(request: IncomingMessage, response: ServerResponse): Promise<void> {
      await (await sessionOf(request))?.destroy()
      setCookie(response, cookieName(), '', { secure: isSecure(), max_age_s: 0 })
    },
  }
}

export function readCookie({ headers }: IncomingMessage, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** A cookie of the whole site that no script reads. */
export function setCookie(
  response: ServerResponse,
  name: string,
  value: string,
  { secure, max_age_s }: { readonly secure: boolean; readonly max_age_s: number },
): void {
  const attributes = [
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    `Max-Age=${max_age_s}`,
    ...(secure ? ['Secure'] : []),
  ]
  response.appendHeader('Set-Cookie', [`${name}=${value}`, ...attributes].join('; '))
}
