import { ProtocolError, Server } from '@modelcontextprotocol/server'
import { Fault } from '../../../src/transports/mcp/protocol-2026/fault.ts'
import type { Question } from './ask.ts'
import { getPrompt, prompts, readResource, resources, resourceTemplates } from './documents.ts'
import { type CallFixture, capabilities, info, listing } from './service.ts'

/** The fixture on the SDK's server: all of the 2025 era, and subscriptions of the modern one. */
export function createSdkServer(call: CallFixture): Server {
  const server = new Server(info, { capabilities })
  const handle = server.setRequestHandler.bind(server) as (
    method: string,
    answer: (request: { params: Record<string, unknown> }, context: Context) => object | Promise<object>,
  ) => void

  handle('tools/list', () => ({ tools: listing }))
  handle('tools/call', ({ params }, { mcpReq }) =>
    translated(() =>
      call(params, {
        capabilities: server.getClientCapabilities() ?? {},
        logLevel: 'info',
        notify: (method, notified) => mcpReq.notify({ method, params: notified }),
        ask: (question) => mcpReq.send(question),
      }),
    ),
  )
  handle('resources/list', () => ({ resources }))
  handle('resources/templates/list', () => ({ resourceTemplates }))
  handle('resources/read', ({ params }) => translated(() => readResource(String(params.uri))))
  handle('resources/subscribe', () => ({}))
  handle('resources/unsubscribe', () => ({}))
  handle('prompts/list', () => ({ prompts }))
  handle('prompts/get', ({ params }) => translated(() => getPrompt(params, {})))
  handle('logging/setLevel', () => ({}))
  handle('completion/complete', () => ({ completion: { values: [], total: 0, hasMore: false } }))
  return server
}

interface Context {
  readonly mcpReq: {
    notify(notification: object): Promise<void>
    send(question: Question): Promise<Readonly<Record<string, unknown>>>
  }
}

async function translated(answer: () => object | Promise<object>): Promise<object> {
  try {
    return await answer()
  } catch (thrown) {
    if (thrown instanceof Fault) throw new ProtocolError(thrown.code, thrown.message, thrown.data)
    throw thrown
  }
}
