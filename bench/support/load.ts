import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'

const connections = 16

export interface Shot {
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** The expected status; 200 when absent. */
  readonly status?: number
}

/**
 * Sends HTTP requests over 16 kept-alive connections with one request in flight each; a list of shots is sent in turn.
 * Throws for any other status than the expected one.
 */
export function httpLoad(url: string, shots: Shot | readonly Shot[]): (count: number) => Promise<void> {
  const { hostname, port } = new URL(url)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const round = [shots].flat()
  let turn = 0

  const fire = ({ method, path, headers, body, status = 200 }: Shot) =>
    new Promise<void>((resolve, reject) => {
      const length =
        body === undefined
          ? {}
          : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }
      const sent = request(
        { agent, hostname, port, method, path, headers: { ...headers, ...length } },
        (response) => {
          response.resume()
          if (response.statusCode !== status) reject(new Error(`${path} answers ${response.statusCode}.`))
          response.on('end', resolve)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  const next = () => round[turn++ % round.length] as Shot
  return async (count) => {
    let left = count
    const worker = async () => {
      while (left-- > 0) await fire(next())
    }
    await Promise.all(Array.from({ length: connections }, worker))
  }
}

const sockets = 8
const inFlight = 8

/** Sends frames over 8 sockets with 8 in flight on each; every answer is one frame. */
export async function socketLoad(
  url: string,
  protocol: string,
  frame: (id: number) => string,
): Promise<(count: number) => Promise<void>> {
  const open = await Promise.all(
    Array.from({ length: sockets }, async () => {
      const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol, { perMessageDeflate: false })
      await once(socket, 'open')
      return socket
    }),
  )
  return async (count) => {
    const share = Math.ceil(count / sockets)
    await Promise.all(
      open.map((socket) =>
        pump(
          share,
          (id) => socket.send(frame(id)),
          (listener) => socket.on('message', listener),
          (listener) => socket.off('message', listener),
        ),
      ),
    )
  }
}

/** Keeps 8 messages in flight until `count` answers have arrived. */
function pump(
  count: number,
  send: (id: number) => void,
  listen: (listener: () => void) => unknown,
  unlisten: (listener: () => void) => unknown,
): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0
    let answered = 0
    const next = () => {
      answered += 1
      if (answered === count) {
        unlisten(next)
        resolve()
      } else if (sent < count) send(sent++)
    }
    listen(next)
    while (sent < Math.min(inFlight, count)) send(sent++)
  })
}

/** Sends frames as lines through the pipes of a process, with a fixed number in flight. */
export function lineLoad(
  { stdin, stdout }: Pick<ChildProcess, 'stdin' | 'stdout'>,
  frame: (id: number) => string,
): (count: number) => Promise<void> {
  if (!stdin || !stdout) throw new Error('The process has no pipes.')
  const answers = createInterface({ input: stdout })
  return (count) =>
    pump(
      count,
      (id) => stdin.write(`${frame(id)}\n`),
      (listener) => answers.on('line', listener),
      (listener) => answers.off('line', listener),
    )
}
