import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { withoutHidden } from '../../../schemas/text.ts'
import { parseJson } from '../../common/json.ts'
import { createValueMeter } from '../../common/value-meter.ts'
import { maxValues } from '../check-output.ts'
import type { ServerProcess } from '../remote-agent.ts'
import { maxMessageBytes } from './fetch.ts'

/** Lines before and between messages that are none: some servers greet on standard output. */
const maxOtherLines = 100
const maxShownCharacters = 200
/** Milliseconds for which output is still read after the end of a process: another one may hold the pipe. */
const lastOutput_ms = 500

/**
 * MCP over the standard streams of a process (2025-11-25, Transports, stdio), each message on one line. Closing it ends
 * the process; the end of the process is an error of every open request.
 */
export class ProcessTransport implements Transport {
  onmessage?: NonNullable<Transport['onmessage']>
  onerror?: NonNullable<Transport['onerror']>
  onclose?: NonNullable<Transport['onclose']>
  readonly #process: ServerProcess
  /** The beginning of a line whose end has not come. */
  #begun: Buffer[] = []
  #begunBytes = 0
  #otherLines = 0
  #firstOther: string | undefined
  #isClosed = false
  /** Resolves when the process takes more, or has ended. */
  #drained: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Why it was closed, unless this side closed it. */
  #failure: Failure | undefined

  constructor(process: ServerProcess) {
    this.#process = process
    const { stdin, stdout } = process
    // The end of the process tells more than a broken pipe.
    stdin.on('error', () => {})
    stdout.on('error', () => {})
    stdout.pause()
    stdout.on('data', (chunk: Buffer) => this.#take(chunk))
    void this.#ended()
  }

  async start(): Promise<void> {
    this.#process.stdout.resume()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#process
    if (this.#isClosed) throw this.#failure ?? this.#endFailure('has ended')
    // The end of the process, which follows, fails the request with its reason.
    if (!stdin.writable || stdin.write(`${JSON.stringify(message)}\n`)) return
    this.#drained ??= this.#untilDrained().finally(() => {
      this.#drained = undefined
    })
    await this.#drained
  }

  #untilDrained(): Promise<void> {
    const { stdin } = this.#process
    return new Promise((resolve) => {
      const settle = () => {
        stdin.off('drain', settle)
        stdin.off('close', settle)
        resolve()
      }
      stdin.once('drain', settle)
      stdin.once('close', settle)
    })
  }

  async close(): Promise<void> {
    if (!this.#closing) {
      this.#isClosed = true
      this.#closing = Promise.resolve(this.#process[Symbol.asyncDispose]())
      // From here on nobody is given the connection.
      this.onclose?.()
    }
    await this.#closing
  }

  #take(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end)
      const line = this.#begunBytes === 0 ? last : Buffer.concat([...this.#begun, last])
      this.#begun = []
      this.#begunBytes = 0
      start = end + 1
      this.#read(line)
      if (this.#isClosed) return
    }
    const rest = chunk.subarray(start)
    if (rest.length === 0) return
    this.#begun.push(rest)
    this.#begunBytes += rest.length
    if (this.#begunBytes > maxMessageBytes) {
      this.#fail(invalid(`The package wrote a line of more than ${maxMessageBytes} bytes.`))
    }
  }

  #read(line: Buffer): void {
    // Each value takes a byte, so a short line has few.
    if (line.length > maxValues && createValueMeter(false)(line) > maxValues) {
      this.#fail(invalid(`The package wrote a message of more than ${maxValues} values.`))
      return
    }
    const message = parsed(line)
    if (message) {
      this.onmessage?.(message)
      return
    }
    const text = line.toString('utf8').trim()
    if (text === '') return
    this.#firstOther ??= text
    this.#otherLines++
    if (this.#otherLines > maxOtherLines) {
      this.#fail(invalid(`The package writes lines that are not MCP messages${this.#shown()}.`))
    }
  }

  /** The first line that is no message, for an error. */
  #shown(): string {
    if (this.#firstOther === undefined) return ''
    const text = withoutHidden(this.#firstOther.slice(0, maxShownCharacters).replaceAll(/\p{Control}/gu, ' '))
    return `; the first one: ${JSON.stringify(text)}`
  }

  async #ended(): Promise<void> {
    const { exited, stdout } = this.#process
    const { code, signal, reason } = await exited
    if (!stdout.readableEnded && !stdout.destroyed) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lastOutput_ms)
        stdout.once('close', () => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
    if (this.#isClosed) return
    const how = { memory: 'went over its limit of memory', disk: 'went over its limit of disk space' }[reason]
    const ended = code === null ? `ended by ${signal ?? 'a signal'}` : `ended with exit code ${code}`
    this.#fail(this.#endFailure(how ?? ended))
  }

  #endFailure(how: string): Failure {
    const stderr = this.#process.stderrTail()
    const cause = stderr === '' ? undefined : new Error(stderr)
    const other = this.#firstOther === undefined ? '' : `, and wrote lines that are not MCP messages`
    return new Failure('upstream_failed', `The package ${how}${other}${this.#shown()}.`, {}, cause)
  }

  #fail(failure: Failure): void {
    if (this.#isClosed) return
    this.#failure = failure
    this.onerror?.(failure)
    void this.close().catch(() => {})
  }
}

function invalid(message: string): Failure {
  return new Failure('upstream_invalid', message)
}

/** A message, if the line is one. */
function parsed(line: Buffer): JSONRPCMessage | undefined {
  // `{`; a carriage return at the end is space in JSON.
  if (line[0] !== 0x7b) return undefined
  const value = parseJson(line.toString('utf8'))
  return isRecord(value) && value.jsonrpc === '2.0' ? (value as unknown as JSONRPCMessage) : undefined
}
