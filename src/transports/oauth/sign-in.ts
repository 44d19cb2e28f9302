import type { ServerResponse } from 'node:http'
import { codes, Failure } from '../../../schemas/failure.ts'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import { readCookie, setCookie } from '../../auth/authorization-server/browser.ts'
import { cookieNames } from '../../auth/authorization-server/lifetimes.ts'
import { localPerson } from '../../auth/authorization-server/login-link.ts'
import type { Page } from '../../auth/authorization-server/pages.ts'
import { loginMilliseconds } from '../../auth/authorization-server/pending-logins.ts'
import type { Mount } from '../http/app.ts'
import { readFormBody } from '../http/body.ts'
import type { ReadRequest } from '../http/input.ts'
import { send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import { clientOf } from '../shared/client-address.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { createForms } from './forms.ts'
import { accountPage, consentPage, linkPage, protocolPages, signedOutPage, signInPage } from './pages.ts'

export interface SignInOptions {
  readonly context: TransportContext
  readonly server: AuthorizationServer
  /** True for the first use of a code of `dragoman login`. */
  readonly consumeLoginLink: (code: string) => Promise<boolean>
  /** Counts one request of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
}

interface Exchange {
  readonly request: ReadRequest
  readonly response: ServerResponse
}

/** Answers with a page, or with the address to go on at. */
type Answer = (exchange: Exchange) => Promise<Page | { readonly location: string }>

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The pages on which people sign in, decide about clients, and sign out. */
export function signInMounts({ context, server, consumeLoginLink, count }: SignInOptions): Mount[] {
  const forms = createForms(server.isSecure)
  const { browsers, pendingLogins } = server
  const base = () => server.issuer()
  const isLoopback = () => loopback.has(new URL(base()).hostname)
  const loginCookie = () => cookieNames(server.isSecure()).login

  function mount(method: 'get' | 'post', path: string, answer: Answer): Mount {
    return {
      method,
      path,
      async handler(request, response) {
        try {
          count(clientOf(context, request).address)
          show({ request, response }, 200, await answer({ request, response }))
        } catch (thrown) {
          const failure = failureOf(context, thrown)
          const message = [failure.message, failure.details.hint].filter(Boolean).join(' ')
          show({ request, response }, codes[failure.code].http, protocolPages.error(message))
        }
      },
    }
  }

  async function readForm({ request }: Exchange, session: string): Promise<URLSearchParams> {
    const form = new URLSearchParams((await readFormBody(request)).toString('utf8'))
    forms.check(request, form, session)
    return form
  }

  async function beginLogin({ response }: Exchange, login: string, interaction: string | null) {
    const { url, secret } = await pendingLogins.begin(
      login,
      `${base()}/sign-in/${encodeURIComponent(login)}/callback`,
      interaction,
    )
    const max_age_s = loginMilliseconds / 1000
    setCookie(response, loginCookie(), secret, { secure: server.isSecure(), max_age_s })
    return { location: url }
  }

  /** The page of a request that waits: sign in, or decide. */
  async function showWaiting({ request, response }: Exchange, uid: string) {
    const waiting = await server.waiting(request, response, uid)
    if (!waiting) throw nothingWaits()
    const browser = await browsers.of(request)
    const here = `${base()}/sign-in/${uid}`
    if (waiting.kind === 'consent') {
      if (!browser.person) throw nothingWaits()
      const token = forms.token(request, response, browser.session)
      return consentPage({ action: here, token, person: browser.person, request: waiting.request })
    }
    if (browser.person && browser.signedInAt >= waiting.since) {
      return { location: await server.signedIn(request, response, browser.person) }
    }
    const { logins } = server
    return signInPage({
      client: waiting.client,
      logins,
      here,
      expired: browser.expired,
      isLoopback: isLoopback(),
    })
  }

  async function decide(exchange: Exchange, uid: string) {
    const { request, response } = exchange
    const form = await readForm(exchange, (await browsers.of(request)).session)
    const isAllowed = form.get('decision') === 'allow'
    const location = isAllowed
      ? await server.allow(request, response, uid)
      : await server.deny(request, response, uid)
    if (location === undefined) throw nothingWaits()
    return { location }
  }

  async function finishLogin({ request, response }: Exchange, login: string) {
    const secret = readCookie(request, loginCookie())
    setCookie(response, loginCookie(), '', { secure: server.isSecure(), max_age_s: 0 })
    const query = new URL(request.url ?? '', base()).search
    const returned = new URL(`${base()}/sign-in/${encodeURIComponent(login)}/callback${query}`)
    const { person, interaction } = await pendingLogins.finish(login, returned, secret, signalOf(response))
    await browsers.signIn(request, response, person)
    return { location: `${base()}/sign-in${interaction === null ? '' : `/${interaction}`}` }
  }

  async function showAccount({ request, response }: Exchange) {
    const { person, session, expired } = await browsers.of(request)
    const here = `${base()}/sign-in`
    if (!person) return signInPage({ logins: server.logins, here, expired, isLoopback: isLoopback() })
    const token = forms.token(request, response, session)
    return accountPage({ action: `${base()}/sign-out`, token, person })
  }

  async function showLink({ request, response }: Exchange) {
    assertLoopback()
    const code = new URL(request.url ?? '', base()).searchParams.get('code') ?? ''
    const token = forms.token(request, response, (await browsers.of(request)).session)
    return linkPage({ action: `${base()}/sign-in/link`, token, code })
  }

  async function useLink(exchange: Exchange) {
    assertLoopback()
    const { request, response } = exchange
    const form = await readForm(exchange, (await browsers.of(request)).session)
    if (!(await consumeLoginLink(form.get('code') ?? ''))) {
      throw new Failure('unauthenticated', 'This address was used before, or it is older than ten minutes.', {
        hint: 'Run `dragoman login` again.',
      })
    }
    await browsers.signIn(request, response, localPerson)
    return { location: `${base()}/sign-in` }
  }

  function assertLoopback(): void {
    if (isLoopback()) return
    throw new Failure('not_found', 'One-time addresses sign in on the machine of the gateway alone.')
  }

  async function signOut(exchange: Exchange) {
    const { request, response } = exchange
    await readForm(exchange, (await browsers.of(request)).session)
    await browsers.signOut(request, response)
    return signedOutPage()
  }

  return [
    mount('get', '/sign-in', showAccount),
    mount('get', '/sign-in/link', showLink),
    mount('post', '/sign-in/link', useLink),
    mount('get', '/sign-in/with/:login', (exchange) =>
      beginLogin(exchange, paramOf(exchange, 'login'), null),
    ),
    mount('get', '/sign-in/:login/callback', (exchange) => finishLogin(exchange, paramOf(exchange, 'login'))),
    mount('get', '/sign-in/:uid', (exchange) => showWaiting(exchange, paramOf(exchange, 'uid'))),
    mount('post', '/sign-in/:uid', (exchange) => decide(exchange, paramOf(exchange, 'uid'))),
    mount('get', '/sign-in/:uid/with/:login', async (exchange) => {
      const uid = paramOf(exchange, 'uid')
      if (!(await server.waiting(exchange.request, exchange.response, uid))) throw nothingWaits()
      return await beginLogin(exchange, paramOf(exchange, 'login'), uid)
    }),
    mount('post', '/sign-out', signOut),
  ]
}

function paramOf({ request }: Exchange, name: string): string {
  return String(request.params[name] ?? '')
}

function nothingWaits(): Failure {
  return new Failure('not_found', 'No application waits for this browser here, or it waited too long.', {
    hint: 'Start again in the application.',
  })
}

function show({ request, response }: Exchange, status: number, answer: Page | { location: string }): void {
  if ('location' in answer) {
    send(request, response, 303, '', { Location: answer.location, 'Cache-Control': 'no-store' })
    return
  }
  send(request, response, status, answer.html, answer.headers)
}
