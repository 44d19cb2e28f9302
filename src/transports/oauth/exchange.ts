import type { ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import { readCookie, setCookie } from '../../auth/authorization-server/browser.ts'
import { cookieNames } from '../../auth/authorization-server/lifetimes.ts'
import type { Page } from '../../auth/authorization-server/pages.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'
import { readFormBody } from '../http/body.ts'
import type { ReadRequest } from '../http/input.ts'
import type { Forms } from '../shared/forms.ts'

/** A request of a browser, and its answer. */
export interface PageExchange {
  readonly request: ReadRequest
  readonly response: ServerResponse
}

/** Answers with a page, or with the address to go on at. */
export type PageAnswer = (exchange: PageExchange) => Promise<Page | { readonly location: string }>

/** What the pages of sign-in share. */
export interface SignInPages {
  readonly server: AuthorizationServer
  readonly forms: Forms
}

/** The fields of a form of this browser and session. Throws Failure `forbidden` for a forged one. */
export async function readForm(
  { server, forms }: SignInPages,
  { request }: PageExchange,
): Promise<URLSearchParams> {
  const form = new URLSearchParams((await readFormBody(request)).toString('utf8'))
  forms.check(request, form, (await server.browsers.of(request)).session)
  return form
}

export function paramOf({ request }: PageExchange, name: string): string {
  return String(request.params[name] ?? '')
}

/** Pages to which a sign-in leads back. Browsers read `%2e` in a path as a dot. */
const own =
  /^(?!.*(?:\.|%2[eE]){2})\/(?:me|publish|agent|search|changes|connect|play|docs|status)(?:[/?][\w.~%/?=&+:@,-]*)?$/
const thenSeconds = 900

/** Remembers the page to which the sign-in leads back; an address elsewhere is ignored. */
export function rememberPage({ server }: SignInPages, { request, response }: PageExchange): void {
  const then = new URL(request.url ?? '', server.issuer()).searchParams.get('then')
  if (then === null || !own.test(then)) return
  const secure = server.isSecure()
  const value = Buffer.from(then).toString('base64url')
  setCookie(response, cookieNames(secure).back, value, { secure, max_age_s: thenSeconds })
}

/** Pages that are shown to people who are signed in alone. */
const members = /^\/(?:me|publish)(?:[/?]|$)/

/** The page to which the person goes who does not sign in. */
export function pageWithout({ server }: SignInPages, { request }: PageExchange): string {
  const then = new URL(request.url ?? '', server.issuer()).searchParams.get('then') ?? ''
  return own.test(then) && !members.test(then) ? then : '/'
}

/** The address of the page from which the person came to sign in. */
export function pageBefore(
  { server }: Pick<SignInPages, 'server'>,
  { request, response }: PageExchange,
): string {
  const secure = server.isSecure()
  const value = readCookie(request, cookieNames(secure).back) ?? ''
  const then = Buffer.from(value, 'base64url').toString()
  setCookie(response, cookieNames(secure).back, '', { secure, max_age_s: 0 })
  return `${server.issuer()}${own.test(then) ? then : '/me'}`
}

/** True if the browser comes back from the sign-in page, where its person says that it is signed in. */
export function isClaimed({ request }: PageExchange): boolean {
  return new URL(request.url ?? '', 'http://localhost').searchParams.has('claimed')
}

/** True if only people at the machine of the gateway reach it. */
export function isLoopback({ issuer }: Pick<AuthorizationServer, 'issuer'>): boolean {
  return isLoopbackUrl(new URL(issuer()))
}

export function nothingWaits(): Failure {
  return new Failure('not_found', 'No application waits for this browser here, or it waited too long.', {
    hint: 'Start again in the application.',
  })
}
