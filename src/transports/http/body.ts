import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import { maxMessageBytes } from '../../../schemas/plain.ts'

const drainMilliseconds = 500

/**
 * Reads a JSON body of at most 1 MiB; `{}` if there is none. Throws Failure `too_large`, `unsupported_media_type`
 * or `invalid_request`. A refused body is drained for a short time, so that the caller reads the answer and not a
 * connection reset.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const bytes = await readBody(request)
  return bytes.length === 0 ? {} : parseJson(bytes)
}

/** RFC 9112 section 6.3: the headers say whether a request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  if ('transfer-encoding' in headers) return true
  return 'content-length' in headers && headers['content-length'] !== '0'
}

/** The allowed type and size of a body, in bytes. */
interface BodyRule {
  readonly type: RegExp
  readonly name: string
  readonly maxBytes: number
}

const jsonBody: BodyRule = {
  type: /^application\/(?:[a-z0-9.+-]+\+)?json *(?:; *charset="?utf-8"?)? *$/i,
  name: 'application/json',
  maxBytes: maxMessageBytes,
}

export const formBody: BodyRule = {
  type: /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"?)? *$/i,
  name: 'application/x-www-form-urlencoded',
  maxBytes: 16 * 1024,
}

export async function readBody(request: IncomingMessage, rule = jsonBody): Promise<Buffer> {
  const { headers } = request
  if (!hasBody(request)) return Buffer.alloc(0)
  if (Number(headers['content-length']) > rule.maxBytes) throw refuse(request, tooLarge(rule))
  const fault = mediaTypeFault(rule, headers['content-type'], headers['content-encoding'])
  if (fault) throw refuse(request, fault)
  return await collect(request, rule)
}

function collect(request: IncomingMessage, rule: BodyRule): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= rule.maxBytes) {
        chunks.push(chunk)
        return
      }
      request.removeAllListeners('data')
      reject(refuse(request, tooLarge(rule)))
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

function mediaTypeFault(
  rule: BodyRule,
  type: string | undefined,
  encoding: string | undefined,
): Failure | undefined {
  if (encoding !== undefined && encoding !== 'identity') {
    return new Failure('unsupported_media_type', `Content-Encoding ${encoding} is not supported.`)
  }
  if (type !== undefined && rule.type.test(type)) return undefined
  return new Failure('unsupported_media_type', `Send ${rule.name}, not ${type ?? 'a body without a type'}.`)
}

function tooLarge({ maxBytes }: BodyRule): Failure {
  return new Failure('too_large', `The body is larger than ${maxBytes} bytes.`)
}

function refuse(request: IncomingMessage, failure: Failure): Failure {
  request.resume()
  setTimeout(() => request.destroy(), drainMilliseconds).unref()
  return failure
}
