// A package for tests: an MCP server over standard streams, which misbehaves by its first argument.
import { createInterface } from 'node:readline'

const [kind = 'well'] = process.argv.slice(2)

const object = { type: 'object' }
const note = 'note://milk'
const tools = [
  {
    name: 'echo',
    description: 'Answers its arguments.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  },
  { name: 'facts', description: 'What it was started with.', inputSchema: object },
  { name: 'work', description: 'Tells of its progress.', inputSchema: object },
  { name: 'ask', description: 'Asks its client.', inputSchema: object },
  { name: 'exit', description: 'Ends the process.', inputSchema: object },
  { name: 'large', description: 'Answers megabytes.', inputSchema: object },
  { name: 'hang', description: 'Never answers.', inputSchema: object },
  { name: 'grow', description: 'Gets a tool more.', inputSchema: object },
]

// biome-ignore lint/suspicious/noExplicitAny: messages are what a test sends
type Message = Record<string, any>
const send = (message: Message) =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (words: string) => ({ content: [{ type: 'text', text: words }] })
const answers = new Map<number, (message: Message) => void>()
let lastQuestion = 0

function call({ id, params }: Message): void {
  const { name, arguments: fields = {}, _meta } = params
  const result = (value: Message) => send({ id, result: value })
  if (name === 'echo') result({ ...text(JSON.stringify(fields)), structuredContent: fields })
  if (name === 'facts') {
    const facts = {
      pid: process.pid,
      args: process.argv.slice(2),
      key: process.env.API_KEY ?? null,
      mode: process.env.MODE ?? null,
    }
    result({ ...text(JSON.stringify(facts)), structuredContent: facts })
  }
  if (name === 'work') {
    const progressToken = _meta?.progressToken
    send({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 2, message: 'half' },
    })
    result(text('done'))
  }
  if (name === 'ask') {
    const schema = { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] }
    send({
      id: ++lastQuestion,
      method: 'elicitation/create',
      params: { message: 'Who are you?', requestedSchema: schema },
    })
    answers.set(lastQuestion, (message) => result(text(`You are ${message.result?.content?.response}.`)))
  }
  if (name === 'exit') process.exit(3)
  if (name === 'large') result(text('x'.repeat(8 * 1024 * 1024)))
  if (name === 'grow') {
    tools.push({ name: 'grown', description: 'It is new.', inputSchema: object })
    send({ method: 'notifications/tools/list_changed' })
    result(text('grown'))
  }
}

let isInitialized = false

/** Servers of 2024 and 2025, to requests before `initialize`: `silent` leaves them unanswered, `strict` ends. */
function isTooEarly({ method }: Message): boolean {
  isInitialized ||= method === 'initialize'
  if (!isInitialized && kind === 'strict') process.exit(1)
  return !isInitialized && kind === 'silent'
}

/** A server of 2026-07-28 alone. */
function takeModern({ id, method, params }: Message): void {
  const complete = { resultType: 'complete', _meta: {} }
  const discovery = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }
  const lasting = { ttlMs: 0, cacheScope: 'private' }
  if (method === 'server/discover') send({ id, result: { ...discovery, ...lasting, ...complete } })
  else if (method === 'tools/list') send({ id, result: { tools, ...lasting, ...complete } })
  else if (method === 'tools/call')
    send({ id, result: { ...text(JSON.stringify(params.arguments)), ...complete } })
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } })
}

function take(message: Message): void {
  const { id, method } = message
  if (isTooEarly(message)) return
  if (method === undefined) {
    answers.get(id)?.(message)
    answers.delete(id)
    return
  }
  if (method === 'initialize' && kind !== 'mute') {
    const capabilities = { tools: { listChanged: true }, resources: {}, prompts: {} }
    const serverInfo = { name: 'package', version: '1.2.3' }
    send({ id, result: { protocolVersion: message.params.protocolVersion, capabilities, serverInfo } })
  } else if (method === 'tools/list') send({ id, result: { tools } })
  else if (method === 'tools/call') call(message)
  else if (method === 'resources/list') send({ id, result: { resources: [{ uri: note, name: 'note' }] } })
  else if (method === 'resources/read')
    send({ id, result: { contents: [{ uri: note, text: 'Remember the milk.' }] } })
  else if (method === 'prompts/list') send({ id, result: { prompts: [{ name: 'summarise' }] } })
  else if (method === 'ping') send({ id, result: {} })
  else if (id !== undefined && kind !== 'mute')
    send({ id, error: { code: -32601, message: 'Method not found' } })
}

process.stderr.write(`started as ${kind}, with ${process.env.API_KEY ?? 'no key'}\n`)
if (kind === 'banner') process.stdout.write('\u001b[1mWelcome\u001b[0m to the package!\n')
if (kind === 'usage') {
  process.stdout.write('Usage: package [options]\u202e\n')
  process.exit(2)
}
if (kind === 'chatter') process.stdout.write('chatter\n'.repeat(200))
createInterface({ input: process.stdin }).on('line', (line) => {
  const takeKind = kind === 'modern' ? takeModern : take
  takeKind(JSON.parse(line))
})
process.stdin.on('end', () => process.exit(0))
