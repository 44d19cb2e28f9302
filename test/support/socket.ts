import { once } from 'node:events'
import { WebSocket } from 'ws'
import { mailbox } from './lines.ts'

export interface SocketPeer extends AsyncDisposable {
  readonly socket: WebSocket
  send(message: unknown): void
  answer(id: unknown): Promise<Record<string, unknown>>
}

/** A WebSocket client that sends and receives JSON frames. Rejects with the status of a refused upgrade. */
export async function openSocket(
  url: string,
  protocols: readonly string[],
  headers: Record<string, string> = {},
): Promise<SocketPeer> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols], { headers })
  const answers = mailbox()
  socket.on('message', (data) => answers.deliver(JSON.parse(data.toString())))
  const refused = new Promise<never>((_, reject) => {
    socket.once('unexpected-response', (_request, response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => reject(new Refused(response.statusCode ?? 0, response.headers, body)))
    })
    socket.once('error', reject)
  })
  await Promise.race([once(socket, 'open'), refused])
  socket.on('error', () => {})
  return {
    socket,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    answer: answers.take,
    async [Symbol.asyncDispose]() {
      if (socket.readyState === WebSocket.CLOSED) return
      socket.terminate()
      await once(socket, 'close')
    },
  }
}

export class Refused extends Error {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
  constructor(status: number, headers: Record<string, unknown>, body: string) {
    super(`The upgrade was refused with ${status}.`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}
