import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Duplex, pipeline } from 'node:stream'

/** Connects to a host; rejects where the address is not allowed. */
type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>

/** An HTTP proxy on a Unix socket that reaches chosen hosts alone. */
export interface EgressProxy extends AsyncDisposable {
  readonly socket: string
}

/** `hosts` as in `RunRequest`; `onRefused` receives each host that was refused. */
export async function startEgressProxy(options: {
  readonly socket: string
  readonly hosts: readonly string[]
  readonly dial: Dial
  readonly onRefused: (host: string) => void
}): Promise<EgressProxy> {
  const ended = new AbortController()
  const open = new Set<Duplex>()
  const track = <T extends Duplex>(stream: T): T => {
    open.add(stream)
    stream.on('close', () => open.delete(stream)).on('error', () => stream.destroy())
    return stream
  }

  async function dial(host: string, port: number): Promise<Socket> {
    if (!isGranted(options.hosts, host, port)) {
      options.onRefused(`${host}:${port}`)
      throw new Error('not granted')
    }
    return track(await options.dial(host, port, ended.signal))
  }

  async function tunnel({ url = '' }: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    track(client)
    try {
      const { host, port } = authorityOf(`https://${url}`, 443)
      const upstream = await dial(host, port)
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => client.destroy())
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    } catch {
      client.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    }
  }

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const url = new URL(incoming.url ?? '')
      if (url.protocol !== 'http:') throw new Error('not http')
      const { host, port } = authorityOf(url.href, 80)
      const upstream = await dial(host, port)
      if (outgoing.destroyed) {
        upstream.destroy()
        return
      }
      const { 'proxy-connection': _, 'proxy-authorization': __, ...headers } = incoming.headers
      const sent = request({
        createConnection: () => upstream,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host, connection: 'close' },
      })
      sent.on('error', () => outgoing.destroy())
      sent.on('response', (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        // Breaks the answer if its server does.
        pipeline(response, outgoing, () => {})
      })
      outgoing.on('close', () => upstream.destroy())
      incoming.pipe(sent)
    } catch {
      incoming.resume()
      outgoing.writeHead(403, { 'content-length': 0 }).end()
    }
  }

  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing))
  server.on('connect', (incoming, client, head) => void tunnel(incoming, client, head))
  server.on('upgrade', (_, client) => client.destroy())
  server.on('connection', track)
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject)
    server.listen({ path: options.socket, writableAll: true, readableAll: true }, resolve)
  })
  return {
    socket: options.socket,
    async [Symbol.asyncDispose]() {
      ended.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const stream of open) stream.destroy()
      await closed
    },
  }
}

function authorityOf(url: string, standardPort: number): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return {
    host: hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''),
    port: port === '' ? standardPort : Number(port),
  }
}

/** A host without a port is granted at the ports of HTTP and HTTPS. */
function isGranted(hosts: readonly string[], host: string, port: number): boolean {
  return hosts.some((granted) => {
    const { hostname, port: stated } = new URL(`any://${granted}`)
    const name = hostname.replace(/^\[|\]$/g, '').toLowerCase()
    return name === host && (stated === '' ? port === 443 || port === 80 : Number(stated) === port)
  })
}
