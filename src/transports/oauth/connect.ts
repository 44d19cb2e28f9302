import { readCookie, setCookie } from '../../auth/authorization-server/browser.ts'
import { cookieNames } from '../../auth/authorization-server/lifetimes.ts'
import { clientDocument, connectPath } from '../../auth/upstream-sign-in/clients.ts'
import { type SignIns, signInMilliseconds } from '../../auth/upstream-sign-in/sign-ins.ts'
import type { Mount } from '../http/app.ts'
import { send } from '../http/respond.ts'
import { signalOf } from '../http/rest.ts'
import { createForms } from '../shared/forms.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { paramOf, readForm, type SignInPages } from './exchange.ts'
import { connectedPage, connectPage, leavePage } from './pages.ts'
import { visitMount } from './visit.ts'

export interface ConnectOptions extends Pick<SignInPages, 'server'> {
  readonly context: TransportContext
  readonly signIns: SignIns
  /** Counts one request of this client address. Throws Failure `rate_limited`. */
  readonly count: (client: string) => void
}

/** The pages on which callers sign in to agents, and this gateway's metadata as a client of their servers. */
export function connectMounts({ context, server, signIns, count }: ConnectOptions): Mount[] {
  const forms = createForms(server.isSecure)
  const cookie = () => cookieNames(server.isSecure()).connect
  const visit = visitMount(context, count)

  return [
    visit('get', `${connectPath}/:code`, async (exchange) => {
      const { request, response } = exchange
      const code = paramOf(exchange, 'code')
      const { person, session } = await server.browsers.of(request)
      const view = await signIns.show(code, person)
      const token = forms.token(request, response, session)
      return connectPage({ ...view, action: `${server.issuer()}${connectPath}/${code}`, token })
    }),
    visit('post', `${connectPath}/:code`, async (exchange) => {
      const { request, response } = exchange
      await readForm({ server, forms }, exchange)
      const { person } = await server.browsers.of(request)
      const { url, secret } = await signIns.begin(paramOf(exchange, 'code'), person)
      const max_age_s = signInMilliseconds / 1000
      setCookie(response, cookie(), secret, { secure: server.isSecure(), max_age_s })
      return leavePage(url)
    }),
    visit('get', `${connectPath}/callback/:issuer`, async (exchange) => {
      const { request, response } = exchange
      const { search } = new URL(request.url ?? '', server.issuer())
      const key = paramOf(exchange, 'issuer')
      const returned = new URL(`${server.issuer()}${connectPath}/callback/${key}${search}`)
      const { person } = await server.browsers.of(request)
      const browser = { secret: readCookie(request, cookie()), person }
      const agent = await signIns.finish(key, returned, browser, signalOf(response))
      setCookie(response, cookie(), '', { secure: server.isSecure(), max_age_s: 0 })
      return connectedPage(agent)
    }),
    {
      method: 'get',
      path: `${connectPath}/client/:issuer`,
      open: true,
      async handler(request, response) {
        const document = clientDocument(server.issuer(), String(request.params.issuer ?? ''))
        send(request, response, 200, JSON.stringify(document), { 'Content-Type': 'application/json' })
      },
    },
  ]
}
