import { Failure } from '../../../schemas/failure.ts'
import { localPerson } from '../../auth/authorization-server/login-link.ts'
import {
  isClaimed,
  isLoopback,
  type PageAnswer,
  pageBefore,
  pageWithout,
  readForm,
  rememberPage,
  type SignInPages,
} from './exchange.ts'
import { accountPage, linkPage, signedOutPage, signInPage } from './pages.ts'

interface AccountOptions extends SignInPages {
  /** True for the first use of a code of `dragoman login`. */
  readonly consumeLoginLink: (code: string) => Promise<boolean>
}

/** The pages of a browser for which no client waits: who is signed in, the one-time address, sign-out. */
export function accountAnswers({ consumeLoginLink, ...port }: AccountOptions) {
  const { server, forms } = port

  function assertLoopback(): void {
    if (isLoopback(server)) return
    throw new Failure('not_found', 'A one-time address works only on the machine of the gateway.')
  }

  const show: PageAnswer = async (exchange) => {
    const { request, response } = exchange
    const { person, session, expired } = await server.browsers.of(request)
    const here = `${server.issuer()}/sign-in`
    if (!person) {
      rememberPage(port, exchange)
      return signInPage({
        back: pageWithout(port, exchange),
        logins: server.logins,
        here,
        expired,
        isClaimed: isClaimed(exchange),
        isLoopback: isLoopback(server),
      })
    }
    const token = forms.token(request, response, session)
    return accountPage({ action: `${server.issuer()}/sign-out`, token, person })
  }

  const showLink: PageAnswer = async ({ request, response }) => {
    assertLoopback()
    const code = new URL(request.url ?? '', server.issuer()).searchParams.get('code') ?? ''
    const token = forms.token(request, response, (await server.browsers.of(request)).session)
    return linkPage({ action: `${server.issuer()}/sign-in/link`, token, code })
  }

  const useLink: PageAnswer = async (exchange) => {
    assertLoopback()
    const form = await readForm(port, exchange)
    if (!(await consumeLoginLink(form.get('code') ?? ''))) {
      throw new Failure('unauthenticated', 'This address was used before, or it is older than ten minutes.', {
        hint: 'Run `dragoman login` again.',
      })
    }
    await server.browsers.signIn(exchange.request, exchange.response, localPerson)
    return { location: pageBefore(port, exchange) }
  }

  const signOut: PageAnswer = async (exchange) => {
    await readForm(port, exchange)
    await server.browsers.signOut(exchange.request, exchange.response)
    return signedOutPage()
  }

  return { show, showLink, useLink, signOut }
}
