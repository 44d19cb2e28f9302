import { Failure } from '../../schemas/failure.ts'
import { readConfig } from '../app/config.ts'
import { bridge } from '../client/bridge/bridge.ts'
import type { RemoteEvents } from '../client/bridge/frame.ts'
import { createHttpRemote } from '../client/bridge/http.ts'
import { createSocketRemote } from '../client/bridge/socket.ts'
import { httpUrl } from '../common/http-url.ts'
import { isLoopback } from '../common/loopback.ts'
import { say } from './output.ts'

interface ConnectFlags {
  readonly token?: string
  readonly header?: readonly string[]
}

/** Bridges an MCP host that starts its servers as processes to a remote MCP endpoint, until its input ends. */
export async function connect(address: string, { token, header = [] }: ConnectFlags): Promise<void> {
  const url = addressOf(address)
  const bearer = token ?? tokenFor(url)
  const options = { headers: headersOf(header), ...(bearer !== undefined && { token: bearer }) }
  const open = url.protocol.startsWith('ws')
    ? (events: RemoteEvents) => createSocketRemote(url, options, events)
    : (events: RemoteEvents) => createHttpRemote(url, options, events)
  if (bearer !== undefined && /^(ws|http):$/.test(url.protocol) && !isLoopback(url.hostname))
    say('The token goes to the server unencrypted: use https or wss.')
  const whole = await bridge({ input: process.stdin, output: process.stdout, say, connect: open })
  if (!whole) process.exitCode = 1
}

/** The token of the settings, unless it is that of another gateway, which `DRAGOMAN_URL` names. */
function tokenFor(url: URL): string | undefined {
  const { DRAGOMAN_TOKEN, DRAGOMAN_URL } = readConfig()
  if (DRAGOMAN_TOKEN === undefined || DRAGOMAN_URL === undefined) return DRAGOMAN_TOKEN
  if (new URL(DRAGOMAN_URL).origin === httpUrl(url.href).origin) return DRAGOMAN_TOKEN
  say(`DRAGOMAN_TOKEN is for ${DRAGOMAN_URL}, so ${url.host} does not get it. --token gives it one.`)
  return undefined
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isUsable = url && /^(wss?|https?):$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isUsable) return url
  throw new Failure('invalid_request', 'Give the address of an MCP endpoint, such as wss://HOST/mcp/ws.', {
    hint: 'ws, wss, http and https are spoken; a token goes into DRAGOMAN_TOKEN, not into the address.',
  })
}

function headersOf(options: readonly string[]): Record<string, string> {
  const pairs = options.map((option) => {
    const at = option.indexOf('=')
    const [name, value] = [option.slice(0, at).trim(), option.slice(at + 1)]
    try {
      new Headers([[name, value]])
    } catch {
      throw new Failure(
        'invalid_request',
        `--header takes NAME=VALUE; ${name || 'this'} is not of this form.`,
      )
    }
    return [name, value] as const
  })
  return Object.fromEntries(pairs)
}
