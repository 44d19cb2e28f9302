import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as after } from 'node:timers/promises'
import { parseJson } from '../../common/json.ts'
import { linesOf } from '../../common/lines.ts'
import { cancelledBy, isMessage, isRequest, type McpMessage } from '../../common/mcp/message.ts'
import { faultText, type Remote, type RemoteEvents } from './frame.ts'
import { answeredBy } from './socket.ts'

interface BridgeOptions {
  /** Lines from the host. */
  readonly input: Readable
  /** Lines to the host: only messages. */
  readonly output: Writable
  /** Shows a text to the user. */
  readonly say: (words: string) => void
  readonly connect: (events: RemoteEvents) => Remote
  /** How long requests may still take once the input has ended, in milliseconds; 10,000 when left out. */
  readonly drain_ms?: number
}

/**
 * Passes lines of MCP between a host and a remote server, unchanged. Resolves with true when the input has ended
 * and its requests are answered, with false when a session is lost, so that the host can restart.
 */
export async function bridge({
  input,
  output,
  say,
  connect,
  drain_ms = 10_000,
}: BridgeOptions): Promise<boolean> {
  const waiting = new Set<string>()
  const gone = new AbortController()
  let idle: (() => void) | undefined
  let isComplete = true

  function settle(id: string | undefined): void {
    if (id !== undefined) waiting.delete(id)
    if (waiting.size === 0) idle?.()
  }

  async function write(text: string): Promise<void> {
    // A line break within a message is white space between tokens: JSON strings hold none.
    if (gone.signal.aborted || output.write(`${text.replace(/[\r\n]+/g, ' ')}\n`)) return
    await once(output, 'drain', { signal: gone.signal }).catch(() => {})
  }

  const remote = connect({
    async receive(text) {
      await write(text)
      settle(answeredBy(text))
    },
    async onError({ id }, fault) {
      await write(faultText(id, fault))
      settle(JSON.stringify(id))
    },
    onMessage: say,
    onSessionLost(words) {
      say(words)
      isComplete = false
      gone.abort()
      input.destroy()
    },
  })

  async function take(text: string | undefined): Promise<void> {
    const message = text === undefined ? undefined : read(text)
    if (text === undefined || message === undefined) {
      await write(refusal(text))
      return
    }
    if (isRequest(message) && message.method !== 'subscriptions/listen')
      waiting.add(JSON.stringify(message.id))
    await remote.send({ text, message })
    const cancelled = cancelledBy(message)
    // A cancelled request gets no answer.
    if (cancelled !== undefined) settle(JSON.stringify(cancelled))
  }

  output.on('error', () => {
    gone.abort()
    input.destroy()
  })
  try {
    for await (const lines of linesOf(input)) {
      // Sends the messages in order, one after another.
      for (const line of lines) await take(line)
    }
  } catch (fault) {
    if (!gone.signal.aborted) say(fault instanceof Error ? fault.message : String(fault))
  }
  if (!gone.signal.aborted && waiting.size > 0) {
    const answered = new Promise<void>((resolve) => {
      idle = resolve
    })
    await Promise.race([answered, after(drain_ms, undefined, { ref: false })])
  }
  await remote.close()
  return isComplete
}

function read(text: string): McpMessage | undefined {
  const value = parseJson(text)
  return isMessage(value) ? value : undefined
}

function refusal(text: string | undefined): string {
  let code = -32700
  try {
    JSON.parse(text ?? '')
    code = -32600
  } catch {}
  const message = code === -32600 ? 'A line holds one JSON-RPC 2.0 message of MCP.' : 'The line is not JSON.'
  return JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })
}
