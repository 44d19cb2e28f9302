import { readCookie, setCookie } from '../../auth/authorization-server/browser.ts'
import { cookieNames } from '../../auth/authorization-server/lifetimes.ts'
import { loginMilliseconds } from '../../auth/authorization-server/pending-logins.ts'
import { signalOf } from '../http/rest.ts'
import { nothingWaits, type PageAnswer, pageBefore, paramOf, type SignInPages } from './exchange.ts'

/** Sends browsers to the issuers at which people log in, and receives them again. */
export function logInAnswers({ server }: Pick<SignInPages, 'server'>) {
  const cookie = () => cookieNames(server.isSecure()).login
  const callbackOf = (login: string) => `${server.issuer()}/sign-in/${encodeURIComponent(login)}/callback`

  /** `interaction` is the request of a client that waits for the login. */
  const begin =
    (interaction: (exchange: Parameters<PageAnswer>[0]) => Promise<string | null>): PageAnswer =>
    async (exchange) => {
      const login = paramOf(exchange, 'login')
      const { url, secret } = await server.pendingLogins.begin(
        login,
        callbackOf(login),
        await interaction(exchange),
      )
      const max_age_s = loginMilliseconds / 1000
      setCookie(exchange.response, cookie(), secret, { secure: server.isSecure(), max_age_s })
      return { location: url }
    }

  const finish: PageAnswer = async (exchange) => {
    const { request, response } = exchange
    const login = paramOf(exchange, 'login')
    const secret = readCookie(request, cookie())
    setCookie(response, cookie(), '', { secure: server.isSecure(), max_age_s: 0 })
    const { search } = new URL(request.url ?? '', server.issuer())
    const returned = new URL(callbackOf(login) + search)
    const signal = signalOf(response)
    const { person, interaction } = await server.pendingLogins.finish(login, returned, secret, signal)
    await server.browsers.signIn(request, response, person)
    if (interaction !== null) return { location: `${server.issuer()}/sign-in/${interaction}` }
    return { location: pageBefore({ server }, exchange) }
  }

  return {
    begin: begin(async () => null),
    beginWaiting: begin(async (exchange) => {
      const uid = paramOf(exchange, 'uid')
      if (await server.waiting(exchange.request, exchange.response, uid)) return uid
      throw nothingWaits()
    }),
    finish,
  }
}
