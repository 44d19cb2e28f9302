import type { IncomingHttpHeaders } from 'node:http'
import { serve, type TestServer } from '../net/support.ts'

/** The stream of events that answers one request. */
export interface AnswerStream {
  write(result: object): void
  end(): void
  /** Breaks the connection. */
  cut(): void
  isOpen(): boolean
}

/** One request of JSON-RPC to an agent, which answers it once. */
export interface RpcCall {
  readonly method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  readonly params: any
  readonly headers: IncomingHttpHeaders
  result(result: object): void
  error(error: { readonly code: number; readonly message: string }): void
  stream(): AnswerStream
}

/** An agent of A2A 1.0 over JSON-RPC at `/rpc` that streams; every GET answers its card, which has the fields of `card` too. */
export async function serveRpcAgent(card: object, answer: (call: RpcCall) => void): Promise<TestServer> {
  const agent = await serve((request, response) => {
    let text = ''
    request.on('data', (chunk) => {
      text += chunk
    })
    request.on('end', () => {
      if (request.method === 'GET') return void response.end(JSON.stringify(cardOf(agent.origin, card)))
      const { id, method, params } = JSON.parse(text)
      const framed = (outcome: object) => JSON.stringify({ jsonrpc: '2.0', id, ...outcome })
      const send = (outcome: object) =>
        void response.setHeader('Content-Type', 'application/json').end(framed(outcome))
      answer({
        method,
        params,
        headers: request.headers,
        result: (result) => send({ result }),
        error: (error) => send({ error }),
        stream() {
          response.setHeader('Content-Type', 'text/event-stream').flushHeaders()
          return {
            write: (result) => void response.write(`data: ${framed({ result })}\n\n`),
            end: () => void response.end(),
            cut: () => void response.destroy(),
            isOpen: () => !response.destroyed,
          }
        },
      })
    })
  })
  return agent
}

function cardOf(origin: string, card: object): object {
  return {
    name: 'Agent',
    description: 'Works.',
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    ...card,
  }
}
