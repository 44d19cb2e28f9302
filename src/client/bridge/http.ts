import { Agent, fetch, type Response } from 'undici'
import { Failure } from '../../../schemas/failure.ts'
import { isRecord } from '../../../schemas/json.ts'
import { parseJson } from '../../common/json.ts'
import { cancelledBy, isRequest, type McpRequest } from '../../common/mcp/message.ts'
import { readEventData } from '../../common/sse.ts'
import { hasSecret } from '../../common/url-secrets.ts'
import { isStateless, type Line, notSent, type Remote, type RemoteEvents } from './frame.ts'
import { createParameters, requestHeaders } from './headers.ts'
import { answeredBy } from './socket.ts'

interface HttpRemoteOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A session of a legacy protocol version; headers identify it. */
interface Session {
  readonly id?: string
  readonly version?: string
}

const connectMilliseconds = 10_000
const closeMilliseconds = 1000

/** Streamable HTTP as the remote end of a bridge. Throws Failure `invalid_request` for an address that holds a secret. */
export function createHttpRemote(url: URL, options: HttpRemoteOptions, events: RemoteEvents): Remote {
  if (hasSecret(`${url.pathname}${url.search}`)) throw Failure.secretInAddress()
  return new HttpRemote(url, options, events)
}

/**
 * Sends a POST for each message, which is answered as JSON or as events. Cancelling a request of 2026-07-28 closes its
 * POST. A session of a legacy protocol version has an id, and a stream for messages that the server starts.
 */
class HttpRemote implements Remote {
  readonly #url: URL
  readonly #events: RemoteEvents
  readonly #headers: Record<string, string>
  readonly #agent = new Agent({
    connect: { timeout: connectMilliseconds },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  readonly #running = new Map<string, AbortController>()
  readonly #closed = new AbortController()
  readonly #parameters = createParameters()
  #session: Session | undefined
  #isExpired = false

  constructor(url: URL, { token, headers }: HttpRemoteOptions, events: RemoteEvents) {
    this.#url = url
    this.#events = events
    this.#headers = { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) }
  }

  async send(line: Line): Promise<void> {
    const { message } = line
    if (isRequest(message)) return void this.#request(line, message)
    const cancelled = cancelledBy(message)
    // Only the server of a legacy session waits for the notification.
    if (cancelled === undefined || this.#session) await this.#notify(line)
    if (cancelled !== undefined) this.#running.get(JSON.stringify(cancelled))?.abort()
  }

  async close(): Promise<void> {
    this.#closed.abort()
    if (this.#session?.id !== undefined) {
      await this.#fetch('DELETE', {}, AbortSignal.timeout(closeMilliseconds)).catch(() => {})
    }
    await this.#agent.destroy()
  }

  async #request(line: Line, message: McpRequest): Promise<void> {
    const key = JSON.stringify(message.id)
    const controller = new AbortController()
    this.#running.set(key, controller)
    const signal = AbortSignal.any([controller.signal, this.#closed.signal])
    try {
      const response = await this.#post(line, signal)
      if (message.method === 'initialize' && !isStateless(line)) this.#session = sessionIn(response)
      if (!(await this.#relay(response, message))) {
        throw new Error('The server ended its answer before it was complete.')
      }
    } catch (fault) {
      if (!signal.aborted) await this.#events.onError(message, fault)
      if (this.#isExpired) this.#events.onSessionLost('The server no longer knows the session.')
    } finally {
      this.#running.delete(key)
    }
  }

  /** Passes on the messages of a response; false if none of them answers the request. */
  async #relay(response: Response, message: McpRequest): Promise<boolean> {
    const id = JSON.stringify(message.id)
    if (isEventStream(response)) {
      let isAnswered = false
      for await (const text of readEventData(response.body)) {
        const isAnswer = answeredBy(text) === id
        if (isAnswer) this.#learn(message, text)
        isAnswered ||= isAnswer
        await this.#events.receive(text)
      }
      return isAnswered
    }
    const text = await response.text()
    if (answeredBy(text) === id) {
      this.#learn(message, text)
      await this.#events.receive(text)
      return true
    }
    this.#isExpired ||=
      response.status === 404 && this.#session?.id !== undefined && message.method !== 'initialize'
    throw refusalOf(response, text)
  }

  /** Stores the values of an answer that the headers of later requests repeat. */
  #learn({ method }: McpRequest, text: string): void {
    if (method !== 'initialize' && method !== 'tools/list') return
    const { result } = JSON.parse(text)
    if (method === 'tools/list') this.#parameters.read(result)
    else if (this.#session && isRecord(result) && typeof result.protocolVersion === 'string')
      this.#session = { ...this.#session, version: result.protocolVersion }
  }

  async #notify(line: Line): Promise<void> {
    const { message } = line
    try {
      const response = await this.#post(line, this.#closed.signal)
      const text = await response.text()
      if (!response.ok) throw refusalOf(response, text)
      if ('method' in message && message.method === 'notifications/initialized' && this.#session)
        void this.#listen().catch(() => {})
    } catch (fault) {
      if (this.#closed.signal.aborted) return
      this.#events.onMessage(notSent(fault))
    }
  }

  /** Passes on the messages that the server starts in a session, if the server offers a stream for them. */
  async #listen(): Promise<void> {
    const response = await this.#fetch('GET', { Accept: 'text/event-stream' }, this.#closed.signal)
    if (!isEventStream(response)) return void (await response.text())
    for await (const text of readEventData(response.body)) await this.#events.receive(text)
  }

  #post(line: Line, signal: AbortSignal): Promise<Response> {
    return this.#fetch('POST', requestHeaders(line, this.#parameters), signal, line.text)
  }

  /** Allows any address: the user of the command line names it, often on their own machine. */
  #fetch(
    method: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    body?: string,
  ): Promise<Response> {
    return fetch(this.#url, {
      method,
      headers: { ...this.#headers, ...sessionHeaders(this.#session), ...headers },
      redirect: 'manual',
      dispatcher: this.#agent,
      signal,
      ...(body !== undefined && { body }),
    }).catch((fault) => {
      throw unreachable(fault)
    })
  }
}

/** What the network said, which undici has only as the cause of 'fetch failed'. */
function unreachable(fault: unknown): unknown {
  if (!(fault instanceof TypeError) || !(fault.cause instanceof Error)) return fault
  const { message, code } = fault.cause as NodeJS.ErrnoException
  return new Error(`The server cannot be reached: ${message || code}`, { cause: fault })
}

function isEventStream(
  response: Response,
): response is Response & { readonly body: NonNullable<Response['body']> } {
  const type = response.headers.get('content-type') ?? ''
  return response.ok && type.startsWith('text/event-stream') && response.body !== null
}

function sessionIn(response: Response): Session {
  const id = response.headers.get('mcp-session-id')
  return id === null ? {} : { id }
}

function sessionHeaders(session: Session | undefined): Record<string, string> {
  return {
    ...(session?.id !== undefined && { 'Mcp-Session-Id': session.id }),
    ...(session?.version !== undefined && { 'MCP-Protocol-Version': session.version }),
  }
}

/** The error in a response that does not answer the request: a JSON-RPC error without its id, a problem, or another body. */
function refusalOf({ status, headers, ok }: Response, text: string): unknown {
  const problem = asRecord(text)
  const { error } = problem
  if (isRecord(error) && typeof error.message === 'string') {
    const data = isRecord(error.data) ? error.data : {}
    return { message: error.message, status, code: data.code, hint: data.hint }
  }
  if (ok) return new Error(`The server answered ${status} without an answer to the request.`)
  const { code, hint = hintOf(status) } = problem
  const words = typeof problem.detail === 'string' ? problem.detail : firstWords(headers, text)
  return {
    message: `The server answered ${status}${words === '' ? '.' : `: ${words}`}`,
    status,
    code,
    hint,
    challenge: headers.get('www-authenticate') ?? undefined,
  }
}

const maxWords = 300

/** The beginning of an error body that is meant to be read; empty for a page. */
function firstWords(headers: Response['headers'], text: string): string {
  if (/\bhtml\b/.test(headers.get('content-type') ?? '') || text.trimStart().startsWith('<')) return ''
  const words = text.trim().replace(/\s+/g, ' ')
  return words.length > maxWords ? `${words.slice(0, maxWords)}…` : words
}

function hintOf(status: number): string | undefined {
  if (status === 401 || status === 403) return 'Give the token that the server asks for in DRAGOMAN_TOKEN.'
  if (status === 404 || status === 405)
    return 'Check the path: the address must be that of an MCP endpoint, such as https://HOST/mcp. A server of HTTP+SSE (2024-11-05, often /sse) is reached through a gateway that lists it.'
  if (status >= 300 && status < 400)
    return 'Redirects are not followed: give the address of the endpoint itself.'
  return status >= 500 ? 'The server has failed: its log says why.' : undefined
}

function asRecord(text: string): Record<string, unknown> {
  const value = parseJson(text)
  return isRecord(value) ? value : {}
}
