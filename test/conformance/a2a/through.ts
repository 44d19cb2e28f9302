import { createServer, request as sendRequest } from 'node:http'
import { startGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { kitTasks, serveScenarios } from './serve.ts'

const name = 'com.example.kit'
const base = '/a2a/v1'

/**
 * The kit's agent listed at another gateway, before which a proxy adds the token and the name of the agent: what the
 * kit sees has passed through that gateway.
 */
export async function serveThrough(port = 0): Promise<AsyncDisposable & { readonly url: string }> {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await startGateway({}, { tasks: kitTasks }))
  const served = stack.use(await serveScenarios(home))
  const { origin } = new URL(served.url)
  const gateway = stack.use(await startGateway({ DRAGOMAN_ALLOW_ORIGINS: origin }, { tasks: kitTasks }))
  const manifest_url = `${served.url}/.well-known/agent-card.json`
  await list(gateway, { package_name: name, manifest_url })
  await gateway.gateway.verification.checker.run(new AbortController().signal)
  const authorization = `Bearer ${await gateway.token('kit', { ttl_s: 24 * 3600 })}`

  const proxy = createServer((request, response) => {
    const { method, url = '', headers } = request
    const isCard = url.endsWith('/agent-card.json')
    const isRpc = url === base || url === `${base}/`
    const path = isRpc ? `${base}?tenant=${name}` : url.replace(base, `${base}/${name}`)
    const version = isCard ? { 'a2a-version': '1.0' } : {}
    const forwarded = sendRequest(
      `${gateway.url}${path}`,
      { method: method ?? 'GET', headers: { authorization, ...version, ...headers } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    forwarded.on('error', () => response.destroy())
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve))
  const address = proxy.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`
  gateway.gateway.reachedAt(url)
  stack.defer(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const owned = stack.move()
  return { url: `${url}${base}`, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
