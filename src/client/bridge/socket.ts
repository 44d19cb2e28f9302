import { Failure } from '../../../schemas/failure.ts'
import { cancelledBy, isRequest, type McpRequest } from '../../common/mcp/message.ts'
import {
  type McpSocket,
  type McpSocketOptions,
  openMcpSocket,
  socketAddress,
} from '../../common/mcp/socket-connection.ts'
import { isStateless, type Line, notSent, type Remote, type RemoteEvents } from './frame.ts'

/**
 * MCP over WebSocket as the remote end. A broken connection is reopened for the next request of 2026-07-28;
 * pending requests get an error. A session of a legacy protocol version ends with its connection.
 */
export function createSocketRemote(url: URL, options: McpSocketOptions, events: RemoteEvents): Remote {
  const address = socketAddress(url, Failure.secretInAddress)
  const waiting = new Map<string, McpRequest>()
  let connection: Promise<McpSocket> | undefined
  let session = false

  function open(): Promise<McpSocket> {
    const opening = openMcpSocket(address, options, {
      onText: receive,
      onError: () => {},
      onClose(reason) {
        forget()
        void ended(reason ?? new Error('The server closed the socket.'))
      },
    })
    const forget = () => {
      if (connection === opening) connection = undefined
    }
    opening.catch(forget)
    return opening
  }

  async function receive(frame: string): Promise<void> {
    const id = answeredBy(frame)
    if (id !== undefined) waiting.delete(id)
    await events.receive(frame)
  }

  async function ended(why: Error): Promise<void> {
    const left = [...waiting.values()]
    waiting.clear()
    for (const request of left) await events.onError(request, why)
    if (session) events.onSessionLost(why.message)
    else if (left.length === 0) events.onMessage(why.message)
  }

  async function send(line: Line): Promise<void> {
    const { message, text } = line
    if (isRequest(message)) waiting.set(JSON.stringify(message.id), message)
    else waiting.delete(JSON.stringify(cancelledBy(message)))
    if (!isStateless(line) && isRequest(message) && message.method === 'initialize') session = true
    try {
      connection ??= open()
      await (await connection).send(text)
    } catch (fault) {
      if (!isRequest(message)) events.onMessage(notSent(fault))
      else if (waiting.delete(JSON.stringify(message.id))) await events.onError(message, fault)
    }
  }

  return {
    send,
    async close() {
      session = false
      waiting.clear()
      const opened = await connection?.catch(() => undefined)
      await opened?.close()
    },
  }
}

/** How gateways write the beginning of an answer: a long one is then not parsed for its id. */
const usualAnswer = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[^"\\]*"),"(?:result|error)":/

/** The id of an answer, as JSON; undefined for any other message. */
export function answeredBy(text: string): string | undefined {
  const [, id] = usualAnswer.exec(text) ?? []
  if (id !== undefined) return id
  try {
    const message = JSON.parse(text)
    return 'method' in message ? undefined : JSON.stringify(message.id)
  } catch {
    return undefined
  }
}
