import type { AuthorizationServer } from '../../auth/authorization-server/authorization-server.ts'
import type { Mount } from '../http/app.ts'
import { createForms } from '../shared/forms.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { accountAnswers } from './account.ts'
import { logInAnswers } from './log-in.ts'
import { visitMount } from './visit.ts'
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

  const mount = visitMount(context, count)

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
