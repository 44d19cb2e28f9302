import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { Failure } from '../../../schemas/failure.ts'
import { linesOf } from '../../common/lines.ts'
import { cancelledBy, isRequest, type McpRequest } from '../../common/mcp/message.ts'
import { isStateless, type Line, type Remote, type RemoteEvents } from './frame.ts'
import { answeredBy } from './socket.ts'

/** Id of the `initialize` that goes on with a session; ids of hosts are numbers or theirs. */
const resumption = 'dragoman-resumption'

/**
 * Lines of MCP over a stream as the remote end. When the stream ends, pending requests get an error, and the next message
 * opens another one by `open`, with the session that the host had. If that fails, the session is lost.
 */
export class StreamRemote implements Remote {
  readonly #open: () => Promise<Duplex>
  readonly #events: RemoteEvents
  readonly #waiting = new Map<string, McpRequest>()
  #stream: Promise<Duplex> | undefined
  /** What began the session of a legacy protocol version. */
  #beginning: Line[] = []
  #onResumed: (() => void) | undefined
  #isClosing = false

  constructor(first: Duplex, open: () => Promise<Duplex>, events: RemoteEvents) {
    this.#open = open
    this.#events = events
    this.#stream = Promise.resolve(first)
    void this.#read(first)
  }

  async send(line: Line): Promise<void> {
    const { message, text } = line
    if (isRequest(message)) this.#waiting.set(JSON.stringify(message.id), message)
    else this.#waiting.delete(JSON.stringify(cancelledBy(message)))
    try {
      this.#stream ??= this.#resume()
      await write(await this.#stream, text)
    } catch (fault) {
      return this.#events.onSessionLost(fault instanceof Error ? fault.message : String(fault))
    }
    const isBeginning = 'method' in message && beginnings.has(message.method) && !isStateless(line)
    if (isBeginning) this.#beginning.push(line)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#waiting.clear()
    const stream = await this.#stream?.catch(() => undefined)
    if (!stream || stream.closed) return
    stream.end()
    await once(stream, 'close').catch(() => {})
  }

  async #resume(): Promise<Duplex> {
    const stream = await this.#open()
    const resumed = new Promise<void>((resolve, reject) => {
      this.#onResumed = resolve
      stream.once('close', () => reject(new Error('The gateway ended at once.')))
    })
    resumed.catch(() => {})
    void this.#read(stream)
    for (const { message, text } of this.#beginning) {
      const isFirst = isRequest(message)
      await write(stream, isFirst ? JSON.stringify({ ...message, id: resumption }) : text)
      if (isFirst) await resumed
    }
    return stream
  }

  async #read(stream: Duplex): Promise<void> {
    stream.on('error', () => stream.destroy())
    try {
      for await (const lines of linesOf(stream)) for (const line of lines) await this.#receive(line)
    } catch {
      // The stream broke.
    }
    stream.destroy()
    this.#stream = undefined
    const left = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const request of left) await this.#events.onError(request, ended)
    if (!this.#isClosing) this.#events.onMessage('The gateway that served this host has ended.')
  }

  async #receive(line: string | undefined): Promise<void> {
    if (line === undefined) return
    const id = answeredBy(line)
    if (id === JSON.stringify(resumption)) return this.#onResumed?.()
    if (id !== undefined) this.#waiting.delete(id)
    await this.#events.receive(line)
  }
}

const beginnings = new Set(['initialize', 'notifications/initialized'])
const ended = new Failure('unavailable', 'The gateway ended before it answered.', { hint: 'Call it again.' })

async function write(stream: Duplex, text: string): Promise<void> {
  if (stream.destroyed || stream.write(`${text}\n`)) return
  await Promise.race([once(stream, 'drain'), once(stream, 'close')]).catch(() => {})
}
