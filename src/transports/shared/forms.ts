import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { readCookie, setCookie } from '../../auth/authorization-server/browser.ts'
import { cookieNames } from '../../auth/authorization-server/lifetimes.ts'
import { isSameSecret } from '../../common/same-secret.ts'

const cookieSeconds = 86_400

export type Forms = ReturnType<typeof createForms>

/**
 * Tokens of forms against requests that another site forges. A token is bound to a cookie of the browser and to the
 * session of the person.
 */
export function createForms(isSecure: () => boolean) {
  const nameOf = () => cookieNames(isSecure()).form
  /** The cookies of answers in progress: all forms of a page share one. */
  const cookies = new WeakMap<ServerResponse, string>()

  /** Throws Failure `forbidden` if the browser says that another site sent the request. */
  function assertOwnSite({ headers }: IncomingMessage): void {
    const site = headers['sec-fetch-site']
    if (site === undefined || site === 'same-origin' || site === 'none') return
    throw new Failure('forbidden', 'Another site sent this form.', {
      hint: 'Load the page of this gateway, and send its form.',
    })
  }

  /** True if the form was shown to this browser and session. */
  function isValid(request: IncomingMessage, form: URLSearchParams, session: string): boolean {
    const cookie = readCookie(request, nameOf())
    return (
      cookie !== undefined && cookie !== '' && isSameSecret(form.get('token') ?? '', tokenOf(cookie, session))
    )
  }

  return {
    assertOwnSite,

    /** True if a page of ours sent the form, but to another browser or session, or long ago. */
    isStale(request: IncomingMessage, form: URLSearchParams, session: string): boolean {
      return request.headers['sec-fetch-site'] === 'same-origin' && !isValid(request, form, session)
    },

    /** The token for a form on the page that `response` sends. */
    token(request: IncomingMessage, response: ServerResponse, session: string): string {
      const before = cookies.get(response)
      if (before !== undefined) return tokenOf(before, session)
      const cookie = readCookie(request, nameOf()) || randomBytes(32).toString('base64url')
      cookies.set(response, cookie)
      setCookie(response, nameOf(), cookie, { secure: isSecure(), max_age_s: cookieSeconds })
      return tokenOf(cookie, session)
    },

    /** Throws Failure `forbidden` if the form was not shown to this browser and session. */
    check(request: IncomingMessage, form: URLSearchParams, session: string): void {
      assertOwnSite(request)
      if (isValid(request, form, session)) return
      throw new Failure('forbidden', 'This form is not valid any more.', {
        hint: 'Go back, load the page again, and repeat.',
      })
    },
  }
}

function tokenOf(cookie: string, session: string): string {
  return createHmac('sha256', cookie).update(`form ${session}`).digest('base64url')
}
