import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'

/** An MCP server listed in a gateway, at the URL of a proxy that adds a token. */
export async function startListed(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const package_name = 'com.example.fixture'
  let gateway: TestGateway
  let token: string
  await using stack = new AsyncDisposableStack()
  const proxy = createServer((request, response) => {
    const target = new URL(`/mcp/agents/${package_name}`, gateway.url)
    const forwarded = sendRequest(
      target,
      { method: request.method, headers: { ...request.headers, authorization: `Bearer ${token}` } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      },
    )
    forwarded.on('error', () => response.destroy())
    response.once('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  gateway = stack.use(
    await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(url).origin, DRAGOMAN_ALLOWED_WEB_ORIGINS: origin }),
  )
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url }] })
  token = await gateway.token('conformance')
  stack.defer(async () => {
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  })
  const opened = stack.move()
  return {
    url: `${origin}/mcp`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
