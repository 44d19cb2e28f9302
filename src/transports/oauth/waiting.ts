import {
  isClaimed,
  isLoopback,
  nothingWaits,
  type PageAnswer,
  paramOf,
  readForm,
  type SignInPages,
} from './exchange.ts'
import { consentPage, signInPage } from './pages.ts'

/** What the buttons of the page do, by their values. */
const ends: Readonly<Record<string, 'allow' | 'switchPerson'>> = { allow: 'allow', switch: 'switchPerson' }

/** The page of a client's request that waits: sign in, or decide. */
export function waitingAnswers(port: SignInPages) {
  const { server, forms } = port

  const show: PageAnswer = async (exchange) => {
    const { request, response } = exchange
    const uid = paramOf(exchange, 'uid')
    const waiting = await server.waiting(request, response, uid)
    if (!waiting) throw nothingWaits()
    const browser = await server.browsers.of(request)
    const here = `${server.issuer()}/sign-in/${uid}`
    if (waiting.kind === 'consent') {
      if (!browser.person) throw nothingWaits()
      const token = forms.token(request, response, browser.session)
      const { person } = browser
      // Without logins, only the person at this machine signs in.
      const mayBeOther = server.logins.length > 0
      return consentPage({ action: here, token, person, mayBeOther, request: waiting.request })
    }
    if (browser.person && browser.signedInAt >= waiting.since) {
      return { location: await server.signedIn(request, response, browser.person, browser.signedInAt) }
    }
    const token = forms.token(request, response, browser.session)
    return signInPage({
      waiting: { action: here, token, request: waiting.request },
      logins: server.logins,
      here,
      expired: browser.expired,
      isClaimed: isClaimed(exchange),
      isLoopback: isLoopback(server),
    })
  }

  const decide: PageAnswer = async (exchange) => {
    const { request, response } = exchange
    const form = await readForm(port, exchange)
    const end = ends[form.get('decision') ?? ''] ?? 'deny'
    const location = await server[end](request, response, paramOf(exchange, 'uid'))
    if (location === undefined) throw nothingWaits()
    return { location }
  }

  return { show, decide }
}
