import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'

/** Longest message that any door accepts, in bytes. */
export const maximumBytes = 1024 * 1024
const drainMilliseconds = 500

/**
 * Reads a JSON body of at most 1 MiB; `{}` where there is none. Throws Failure `too_large`,
 * `unsupported_media_type` or `invalid_request`. A refused body is drained for a moment, so that the caller
 * reads the answer and not a reset.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request)
  return bytes.length === 0 ? {} : parseJson(bytes)
}

/** RFC 9112 section 6.3: a request has a body where its headers say so. */
export function hasBody({ headers }: IncomingMessage): boolean {
  if ('transfer-encoding' in headers) return true
  return 'content-length' in headers && headers['content-length'] !== '0'
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request
  if (!hasBody(request)) return Buffer.alloc(0)
  if (Number(headers['content-length']) > maximumBytes) throw refuse(request, tooLarge())
  const fault = mediaTypeFault(headers['content-type'], headers['content-encoding'])
  if (fault) throw refuse(request, fault)
  return await collect(request)
}

function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= maximumBytes) {
        chunks.push(chunk)
        return
      }
      request.removeAllListeners('data')
      reject(refuse(request, tooLarge()))
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('close', () => {
      if (!request.complete) reject(new Failure('cancelled', 'The request ended before its body.'))
    })
    request.on('error', () => {})
  })
}

/** JSON from bytes or text. Throws Failure `invalid_request`. */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : text.toString('utf8'))
  } catch (fault) {
    const detail = fault instanceof Error ? fault.message : 'Not JSON.'
    throw new Failure('invalid_request', 'The body is not JSON.', { errors: [{ pointer: '', detail }] })
  }
}

function mediaTypeFault(type: string | undefined, encoding: string | undefined): Failure | undefined {
  if (encoding !== undefined && encoding !== 'identity') {
    return new Failure('unsupported_media_type', `Bodies are read plain, not as ${encoding}.`)
  }
  if (
    type === undefined ||
    !/^application\/(?:[a-z0-9.+-]+\+)?json *(?:; *charset="?utf-8"?)? *$/i.test(type)
  ) {
    return new Failure(
      'unsupported_media_type',
      `Send application/json, not ${type ?? 'a body without a type'}.`,
    )
  }
  return undefined
}

function tooLarge(): Failure {
  return new Failure('too_large', `The body is larger than ${maximumBytes} bytes.`)
}

function refuse(request: IncomingMessage, failure: Failure): Failure {
  request.resume()
  setTimeout(() => request.destroy(), drainMilliseconds).unref()
  return failure
}
