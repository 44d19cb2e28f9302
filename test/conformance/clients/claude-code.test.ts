import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { command, temporaryFolder } from '../../support/command.ts'
import { startGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'
import { allowed, instantLogin } from '../../support/sign-in.ts'

const claude = installed('claude-code-2.1.330/node_modules/.bin/claude')
const terminal = resolve(import.meta.dirname, '../../support/terminal.py')

interface Request {
  readonly stream?: boolean
  readonly tools?: readonly { readonly name: string }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** A model that calls one tool once, and then repeats what the tool answered. */
async function startModel(tool: string, input: object) {
  const results: string[] = []
  const server = createServer((request, response) => void answer(request, response))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    if (!request.url?.startsWith('/v1/messages')) return void response.writeHead(404).end()
    const { messages, tools = [] } = JSON.parse(body) as Request
    const all = JSON.stringify(messages)
    const isAnswered = all.includes('"tool_result"')
    if (isAnswered) results.push(all)
    const mayCall = !isAnswered && tools.some(({ name }) => name === tool)
    const block = mayCall
      ? { type: 'tool_use', id: 'toolu_1', name: tool, input: {} }
      : { type: 'text', text: '' }
    const delta = mayCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: 'Done.' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'stand-in', content: [], usage }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    for (const event of [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: mayCall ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage,
      },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    results,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test.skipIf(!claude)(
  'Claude Code, where .ci/run has installed it, signs in by its own flow, lists both ways as connected, and calls a tool',
  async () => {
    await using home = await startGateway({}, { logins: [instantLogin()] })
    await using folder = await temporaryFolder()
    const environment = {
      HOME: folder.path,
      TERM: 'xterm',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const at = { cwd: folder.path }
    async function use(...words: string[]): Promise<string> {
      await using child = run(claude ?? '', words, environment, { ...at, input: '' })
      const { code, stdout, stderr } = await child.ended
      expect(code, stdout + stderr).toBe(0)
      return stdout
    }
    await use('mcp', 'add', '--transport', 'http', 'dragoman', `${home.url}/mcp`)
    const settings = { DRAGOMAN_DATA: home.data, DRAGOMAN_LOG: 'silent', PORT: new URL(home.url).port }
    const pairs = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
    await use('mcp', 'add', 'local', ...pairs, '--', process.execPath, command, 'mcp')

    await using child = run(
      'python3',
      [terminal, claude ?? '', 'mcp', 'login', '--no-browser', 'dragoman'],
      environment,
      at,
    )
    const [address] = await child.printed(/http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?[\w%=&.+~-]+/)
    const end = await allowed(new Browser(home.url), address)
    expect((await fetch(end)).status).toBe(200)
    const login = await child.ended
    expect(login.stdout).toContain('Authenticated')

    const servers = await use('mcp', 'list')
    expect(servers).toMatch(/dragoman: .*Connected/)
    expect(servers).toMatch(/local: .*Connected/)

    const tool = 'mcp__dragoman__call_agent'
    const params = { package_name: 'svc.registry', action: 'list_keys', params: {} }
    await using model = await startModel(tool, params)
    await using session = run(
      claude ?? '',
      ['-p', 'List my keys.', '--allowedTools', tool],
      {
        ...environment,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        ENABLE_TOOL_SEARCH: 'false',
      },
      { ...at, input: '' },
    )
    const { code, stdout, stderr } = await session.ended
    expect(code, stdout + stderr).toBe(0)
    expect(stdout).toContain('Done.')
    expect(model.results.join()).toMatch(/\\"keys\\*":/)
  },
)
