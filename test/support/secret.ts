import { isPublic, names } from '../net/hosts.ts'
import { resolver, serve } from '../net/support.ts'
import { askEverywhere } from './everywhere.ts'
import { startGateway } from './gateway.ts'
import { openTransports } from './transports.ts'

/** Names with a public address in the first answer, and a private one in all later answers. */
const rebinding = Object.fromEntries(
  Array.from({ length: 40 }, (_, number) => [`rebound-${number}.test`, [['127.0.0.2'], ['127.0.0.1']]]),
)

/**
 * A gateway with every transport open, a secret that listens on this machine, and a public server that redirects. Without
 * `isGuarded` every address counts as public.
 */
export async function besideSecret({ isGuarded = true } = {}) {
  const stack = new AsyncDisposableStack()
  const secret = stack.use(await serve((_request, response) => response.end('the secret'), '0.0.0.0'))
  const onSix = stack.use(await serve((_request, response) => response.end('the secret'), '::1', secret.port))
  const open = stack.use(
    await serve((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://x')
      const to = searchParams.get('to')
      response.setHeader('connection', 'close')
      if (to === null) return response.end('public')
      response.writeHead(Number(searchParams.get('status') ?? 302), { location: to }).end()
    }, '127.0.0.2'),
  )
  const home = stack.use(
    await startGateway(
      {},
      {
        lookup: resolver({ ...names, ...rebinding }),
        is_public: isGuarded ? isPublic : () => true,
        ports: [80, 443, secret.port, open.port],
      },
    ),
  )
  const transports = openTransports(home).map((context) => stack.use(context))
  const token = await home.token('caller')
  let rebound = 0
  return {
    transports,
    /** `:P` in a URL is replaced by the port of the secret. */
    at: (url: string) => url.replace(':P', `:${secret.port}`),
    through: (to: string, status = 302) =>
      `http://public.test:${open.port}/?status=${status}&to=${encodeURIComponent(to)}`,
    /** A public page that redirects to the same name, which is then private. */
    rebinding() {
      const host = `rebound-${rebound++}.test`
      return `http://${host}:${open.port}/?to=${encodeURIComponent(`http://${host}:${secret.port}/`)}`
    },
    /** The outcome of reading a URL with the reader, on every transport. */
    ask(url: string) {
      const envelope = { to: 'svc.utility.reader', action: 'extract_content', params: { url } }
      const rest = { method: 'POST', path: '/a2a/utility/reader', body: { input: { url } } }
      return askEverywhere(home, transports, { envelope, rest }, token)
    },
    askAt: (context: (typeof transports)[number], url: string) =>
      context.call({ to: 'svc.utility.reader', action: 'extract_content', params: { url } }, token),
    leaks: () => secret.hits() + onSix.hits(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
