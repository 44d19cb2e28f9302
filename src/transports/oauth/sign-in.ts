import { codes } from '../../../schemas/failure.ts'
import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import type { Page } from '../../auth/authorization-server/pages.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { clientOf } from '../shared/client-address.ts'
import { failureOf, type TransportContext } from '../shared/transport-context.ts'
import { accountAnswers } from './account.ts'
import type { Answer, Exchange } from './exchange.ts'
import { createForms } from './forms.ts'
import { logInAnswers } from './log-in.ts'
import { protocolPages } from './pages.ts'
import { waitingAnswers } from './waiting.ts'

export interface SignInOptions {
  readonly context: TransportContext
  readonly server: AuthorizationServer
  /** True for the first use of a code of `dragoman login`. */
  readonly consumeLoginLink: (code: string) => Promise<boolean>
  /** Counts one request of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
}

/** The pages on which people sign in, decide about clients, and sign out. */
export function signInMounts({ context, server, consumeLoginLink, count }: SignInOptions): Mount[] {
  const port = { server, forms: createForms(server.isSecure) }
  const account = accountAnswers({ ...port, consumeLoginLink })
  const waiting = waitingAnswers(port)
  const logIn = logInAnswers(port)

  function mount(method: 'get' | 'post', path: string, answer: Answer): Mount {
    return {
      method,
      path,
      async handler(request, response) {
        const exchange = { request, response }
        try {
          count(clientOf(context, request).address)
          show(exchange, 200, await answer(exchange))
        } catch (thrown) {
          const { code, message, details } = failureOf(context, thrown)
          const text = [message, details.hint].filter(Boolean).join(' ')
          show(exchange, codes[code].http, protocolPages.error(text))
        }
      },
    }
  }

  return [
    mount('get', '/sign-in', account.show),
    mount('get', '/sign-in/link', account.showLink),
    mount('post', '/sign-in/link', account.useLink),
    mount('get', '/sign-in/with/:login', logIn.begin),
    mount('get', '/sign-in/:login/callback', logIn.finish),
    mount('get', '/sign-in/:uid', waiting.show),
    mount('post', '/sign-in/:uid', waiting.decide),
    mount('get', '/sign-in/:uid/with/:login', logIn.beginWaiting),
    mount('post', '/sign-out', account.signOut),
  ]
}

function show({ request, response }: Exchange, status: number, answer: Page | { location: string }): void {
  if ('location' in answer) {
    send(request, response, 303, '', { Location: answer.location, 'Cache-Control': 'no-store' })
    return
  }
  send(request, response, status, answer.html, answer.headers)
}
