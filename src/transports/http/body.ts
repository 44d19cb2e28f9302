import type { IncomingMessage } from 'node:http'
import { Failure } from '../../../schemas/failure.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { messageLimits, parseMessage, tooManyBytes } from '../shared/message.ts'

const drainMilliseconds = 500

/**
 * Reads a JSON body within the limits of the caller; `{}` if there is none. Throws Failure `too_large`,
 * `unsupported_media_type` or `invalid_request`. A refused body is drained for a short time, so that the caller reads
 * the answer and not a connection reset.
 */
export async function readJsonBody(request: IncomingMessage, principal: Principal | null): Promise<unknown> {
  const bytes = await readBody(request, principal)
  return bytes.length === 0 ? {} : parseBody(bytes, principal)
}

/** JSON from the bytes of a body. Throws Failure `invalid_request` and `too_large`. */
export function parseBody(bytes: Buffer, principal: Principal | null): unknown {
  return parseMessage(bytes, messageLimits(principal), 'body')
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

const json = {
  type: /^application\/(?:[a-z0-9.+-]+\+)?json *(?:; *charset="?utf-8"?)? *$/i,
  name: 'application/json',
}

const form = {
  type: /^application\/x-www-form-urlencoded *(?:; *charset="?utf-8"?)? *$/i,
  name: 'application/x-www-form-urlencoded',
}

/** The bytes of a JSON body, within the limit of the caller. */
export function readBody(request: IncomingMessage, principal: Principal | null): Promise<Buffer> {
  return read(request, { ...json, maxBytes: messageLimits(principal).maxBytes })
}

/** The bytes of a form. */
export function readFormBody(request: IncomingMessage, maxBytes = 16 * 1024): Promise<Buffer> {
  return read(request, { ...form, maxBytes })
}

async function read(request: IncomingMessage, rule: BodyRule): Promise<Buffer> {
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
  return tooManyBytes('body', maxBytes)
}

function refuse(request: IncomingMessage, failure: Failure): Failure {
  request.resume()
  setTimeout(() => request.destroy(), drainMilliseconds).unref()
  return failure
}
