import { Agent, fetch, type Response } from 'undici'
import { isRecord } from '../../../schemas/json.ts'
import { cancelledBy, isRequest, type Request } from '../../common/mcp/message.ts'
import { UpgradeRefused } from '../../common/mcp/socket-errors.ts'
import { readEventData } from '../../common/sse.ts'
import { hasSecret } from '../../common/url-secrets.ts'
import { refuseSecret } from '../refuse-secret.ts'
import { isStateless, type Line, type Remote, type RemoteEvents } from './frame.ts'
import { requestHeaders } from './headers.ts'
import { createParameters } from './parameters.ts'
import { answeredBy } from './socket.ts'

interface HttpRemoteOptions {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a session of the 2025 era goes by. */
interface Session {
  readonly id?: string
  readonly version?: string
}

const closeMilliseconds = 1000

/**
 * Streamable HTTP as the other end: a POST for each message, answered as JSON or as events. Cancelling a request of
 * the 2026-07-28 era closes it; a session of the 2025 era keeps its id, and its stream of what the server says.
 */
export function createHttpRemote(url: URL, options: HttpRemoteOptions, events: RemoteEvents): Remote {
  if (hasSecret(`${url.pathname}${url.search}`)) throw refuseSecret()
  const agent = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 })
  const own = {
    ...options.headers,
    ...(options.token !== undefined && { Authorization: `Bearer ${options.token}` }),
  }
  const running = new Map<string, AbortController>()
  const over = new AbortController()
  const parameters = createParameters()
  let session: Session | undefined
  let expired = false

  /** The address is whatever the user of the command line named, their own machine as likely as not. */
  function ask(method: string, headers: Record<string, string>, signal: AbortSignal, body?: string) {
    return fetch(url, {
      method,
      headers: { ...own, ...sessionHeaders(session), ...headers },
      redirect: 'manual',
      dispatcher: agent,
      signal,
      ...(body !== undefined && { body }),
    })
  }

  const post = (line: Line, signal: AbortSignal) =>
    ask('POST', requestHeaders(line, parameters), signal, line.text)

  async function request(line: Line, message: Request): Promise<void> {
    const key = JSON.stringify(message.id)
    const controller = new AbortController()
    running.set(key, controller)
    const signal = AbortSignal.any([controller.signal, over.signal])
    try {
      const answer = await post(line, signal)
      if (message.method === 'initialize' && !isStateless(line)) session = begin(answer)
      if (!(await relay(answer, message))) throw new Error('The server ended its answer before it was whole.')
    } catch (fault) {
      if (!signal.aborted) await events.failed(message, fault)
      if (expired) events.lost('The server no longer knows the session.')
    } finally {
      running.delete(key)
    }
  }

  /** Passes on what an answer holds; false where the request was not answered by it. */
  async function relay(answer: Response, message: Request): Promise<boolean> {
    const type = answer.headers.get('content-type') ?? ''
    if (answer.ok && type.startsWith('text/event-stream') && answer.body) {
      let answered = false
      for await (const text of readEventData(answer.body)) {
        const done = answeredBy(text) === JSON.stringify(message.id)
        if (done) note(message, text)
        answered ||= done
        await events.receive(text)
      }
      return answered
    }
    const text = await answer.text()
    if (answeredBy(text) === JSON.stringify(message.id)) {
      note(message, text)
      await events.receive(text)
      return true
    }
    expired ||= answer.status === 404 && session?.id !== undefined && message.method !== 'initialize'
    throw refusalOf(answer, text)
  }

  function begin(answer: Response): Session {
    const id = answer.headers.get('mcp-session-id')
    return id === null ? {} : { id }
  }

  function note({ method }: Request, text: string): void {
    if (method !== 'initialize' && method !== 'tools/list') return
    const { result } = JSON.parse(text)
    if (method === 'tools/list') parameters.learn(result)
    else if (session && isRecord(result) && typeof result.protocolVersion === 'string')
      session = { ...session, version: result.protocolVersion }
  }

  /** What the server says by itself in a session, where it offers to. */
  async function listen(): Promise<void> {
    const answer = await ask('GET', { Accept: 'text/event-stream' }, over.signal)
    const type = answer.headers.get('content-type') ?? ''
    if (!answer.ok || !type.startsWith('text/event-stream') || !answer.body) return void (await answer.text())
    for await (const text of readEventData(answer.body)) await events.receive(text)
  }

  async function tell(line: Line): Promise<void> {
    try {
      const answer = await post(line, over.signal)
      const text = await answer.text()
      if (!answer.ok) throw refusalOf(answer, text)
      if ('method' in line.message && line.message.method === 'notifications/initialized' && session)
        void listen().catch(() => {})
    } catch (fault) {
      if (!over.signal.aborted) events.trouble(`Not sent: ${fault instanceof Error ? fault.message : fault}`)
    }
  }

  return {
    async send(line) {
      const { message } = line
      if (isRequest(message)) return void request(line, message)
      const cancelled = cancelledBy(message)
      // Only in the 2025 era, where a session is, does a server wait to be told.
      if (cancelled === undefined || session) await tell(line)
      if (cancelled !== undefined) running.get(JSON.stringify(cancelled))?.abort()
    },
    async close() {
      over.abort()
      if (session?.id !== undefined)
        await ask('DELETE', {}, AbortSignal.timeout(closeMilliseconds)).catch(() => {})
      await agent.destroy()
    },
  }
}

function sessionHeaders(session: Session | undefined): Record<string, string> {
  return {
    ...(session?.id !== undefined && { 'Mcp-Session-Id': session.id }),
    ...(session?.version !== undefined && { 'MCP-Protocol-Version': session.version }),
  }
}

/** An answer that is none: a JSON-RPC error without our id, a problem, or anything else. */
function refusalOf({ status, headers, ok }: Response, text: string): unknown {
  const { error } = asRecord(text)
  if (isRecord(error) && typeof error.message === 'string') {
    const data = isRecord(error.data) ? error.data : {}
    return { message: error.message, status, code: data.code, hint: data.hint }
  }
  if (ok) return new Error(`The server answered ${status} without an answer to the request.`)
  return new UpgradeRefused(status, Object.fromEntries(headers), text)
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
