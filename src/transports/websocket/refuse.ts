import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { codes, type Failure, problem } from '../../../schemas/failure.ts'
import { challenge } from '../http/challenge.ts'
import { requestId } from '../http/request-id.ts'
import type { TransportContext } from '../shared/transport-context.ts'

const lingerMilliseconds = 500

/** Answers an upgrade with a plain HTTP failure. Whether its peer reads and closes or not, the socket goes. */
export function refuse(
  context: Pick<TransportContext, 'site'>,
  request: IncomingMessage,
  socket: Duplex,
  failure: Failure,
): void {
  const { http } = codes[failure.code]
  const body = JSON.stringify(problem(failure, requestId(request)))
  const retry = failure.details.retry_after_s
  const headers = {
    ...challenge(context, request, failure),
    ...(retry !== undefined && { 'Retry-After': String(retry) }),
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const linger = setTimeout(() => socket.destroy(), lingerMilliseconds)
  socket.once('close', () => clearTimeout(linger))
  // What the peer still sends is read away, else closing would reset the answer.
  socket.resume()
  socket.end(`HTTP/1.1 ${http} ${failure.code}\r\n${lines.join('')}\r\n${body}`)
}
