import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { serve } from '../net/support.ts'

interface Request {
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** A use of a tool by a model. */
interface ToolUse {
  readonly tool: string
  readonly input: object
}

/** A stand-in for the API of Anthropic: a model that uses each tool once, in this order, and then ends. */
export async function startModel(uses: readonly ToolUse[]) {
  const results: string[] = []
  const server = await serve((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (!request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end()
    const { messages, tools = [] } = JSON.parse(body) as Request
    const all = JSON.stringify(messages)
    const used = all.split('"tool_result"').length - 1
    if (used > 0) results[used - 1] = all
    const next = uses[used]
    const use = tools.some(({ name }) => name === next?.tool) ? next : undefined
    const block = use
      ? { type: 'tool_use', id: `toolu_${used + 1}`, name: use.tool, input: {} }
      : { type: 'text', text: '' }
    const delta = use
      ? { type: 'input_json_delta', partial_json: JSON.stringify(use.input) }
      : { type: 'text_delta', text: 'Done.' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = {
      id: `msg_${used}`,
      type: 'message',
      role: 'assistant',
      model: 'stand-in',
      content: [],
      usage,
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const event of [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: use ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage,
      },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }

  return {
    url: server.origin,
    /** The messages that the model got after each use of a tool. */
    results,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
