import { type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import { serve } from '../../net/support.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'

/** An MCP server listed in a gateway, at the URL of a proxy that adds a token. */
export async function startListed(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const package_name = 'com.example.fixture'
  let gateway: TestGateway
  let token: string
  await using stack = new AsyncDisposableStack()
  const forward = (request: IncomingMessage, response: ServerResponse) => {
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
  }
  const { origin } = stack.use(await serve(forward))
  gateway = stack.use(
    await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(url).origin, DRAGOMAN_ALLOWED_WEB_ORIGINS: origin }),
  )
  await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url }] })
  token = await gateway.token('conformance')
  const opened = stack.move()
  return {
    url: `${origin}/mcp`,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
