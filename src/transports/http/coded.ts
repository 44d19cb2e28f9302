import type { IncomingMessage, ServerResponse } from 'node:http'
import { costs, type LimitedCaller } from '../../router/limiter.ts'
import {
  acceptedCodings,
  type Coding,
  codedTag,
  compress,
  type Effort,
  isWorthCoding,
} from '../shared/coding.ts'
import type { TransportContext } from '../shared/transport-context.ts'
import { matches } from './etag.ts'
import { type Headers, send } from './respond.ts'

/** The compressed forms of payloads that are sent again: the cached bytes of frozen outputs. */
const compressed = new WeakMap<Buffer, Map<Coding, Promise<Buffer>>>()

/**
 * Sends a body in the best coding that the client accepts, or as it is if it is short. `charge` receives the number of
 * bytes that were compressed for this answer. Callers that accept no coding get the answer at once.
 */
export function sendCoded(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Headers,
  charge: (bytes: number) => void,
  effort?: Effort,
): void | Promise<void> {
  headers.Vary = headers.Vary === undefined ? 'Accept-Encoding' : `${headers.Vary}, Accept-Encoding`
  const coding = isWorthCoding(body) ? acceptedCodings(request)[0] : undefined
  if (coding === undefined) return send(request, response, status, body, headers)
  return codedBody(body, coding, charge, effort).then((bytes) =>
    send(request, response, status, bytes, {
      ...headers,
      'Content-Encoding': coding,
      ...(headers.ETag !== undefined && { ETag: codedTag(headers.ETag, coding) }),
    }),
  )
}

export type SendBody = (...sent: Parameters<typeof send>) => void | Promise<void>

/**
 * Sends the answers for one caller, compressed where that is worth it. A secret is never compressed together with what a
 * stranger may have chosen (BREACH).
 */
export function bodySender(
  { limits }: Pick<TransportContext, 'limits'>,
  caller: LimitedCaller,
  isSecret: boolean | undefined,
): SendBody {
  const charge = (bytes: number) => limits.charge(caller, bytes * costs.compressedByte)
  return isSecret ? send : (...sent) => sendCoded(...sent, charge)
}

function codedBody(
  body: string | Buffer,
  coding: Coding,
  charge: (bytes: number) => void,
  effort?: Effort,
): Promise<Buffer> {
  if (typeof body === 'string') {
    charge(body.length)
    return compress(Buffer.from(body), coding)
  }
  const forms = compressed.get(body) ?? new Map<Coding, Promise<Buffer>>()
  compressed.set(body, forms)
  const made = forms.get(coding)
  if (made) return made
  charge(body.length)
  const form = compress(body, coding, effort)
  forms.set(coding, form)
  return form
}

/** Answers 304 if If-None-Match names the ETag of the headers, which state Vary. Returns true if it has answered. */
export function sendNotModified(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Headers,
): boolean {
  const ETag = currentTag(request, headers.ETag)
  if (ETag === undefined) return false
  send(request, response, 304, '', { ...headers, Vary: `${headers.Vary}, Accept-Encoding`, ETag })
  return true
}

/** The tag in If-None-Match that names the current representation, plain or in a coding that the client accepts. */
export function currentTag(request: IncomingMessage, etag: string | undefined): string | undefined {
  const header = request.headers['if-none-match']
  if (header === undefined || etag === undefined) return undefined
  const tags = [etag, ...acceptedCodings(request).map((coding) => codedTag(etag, coding))]
  return tags.find((tag) => matches(header, tag))
}
