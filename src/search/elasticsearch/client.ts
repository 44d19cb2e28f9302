import { z } from 'zod'
import { Failure } from '../../../schemas/failure.ts'
import type { JsonObject } from '../../../schemas/json.ts'
import { parseJson } from '../../common/json.ts'
import { isLoopbackUrl } from '../../common/loopback.ts'

/**
 * The HTTP client of the engine. Throws Failure for network errors; an HTTP error status is an answer. The body is
 * decompressed.
 */
export type EngineFetch = (request: {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  readonly max_bytes: number
  readonly timeout_ms: number
}) => Promise<{ readonly status: number; readonly body: Uint8Array }>

/** Where an Elasticsearch cluster answers, and the name that the names of its indexes here begin with. */
export interface EngineLocation {
  /** `https://HOST:PORT`, with a path if the cluster is below one. */
  readonly url: string
  /** The value of the header `authorization`. */
  readonly authorization?: string | undefined
  readonly index: string
  /** Parts of a new index; 1 when absent. */
  readonly shards?: number | undefined
  /** Copies of each part of a new index; one when absent, as soon as the cluster has a second node for it. */
  readonly replicas?: number | undefined
}

interface EngineAnswer {
  readonly status: number
  readonly json: JsonObject
}

/** Sends a request; lines are sent as NDJSON. */
export type Engine = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: JsonObject | readonly string[],
  options?: { readonly signal?: AbortSignal; readonly timeout_ms?: number },
) => Promise<EngineAnswer>

/** Follows whether the engine can be used. */
export interface EngineObserver {
  onAnswer(): void
  onFault(fault: Failure): void
  /** An index, by the name that stays when it is replaced, has all changes; with a fault, it refuses them. */
  onWrite(index: string, fault?: Failure): void
}

const maxBytes = 256 * 1024 * 1024
/** A search that takes longer is given up. */
const searchTimeout_ms = 5000
export const retry_after_s = 5
const noSignal = new AbortController().signal
/** Statuses of an engine that is overloaded, read-only, starting, or not ours to use. */
const passing = new Set([401, 403, 408, 429, 500, 502, 503, 504])

const Parts = z.strictObject({
  shards: z.coerce.number().int().min(1).max(64).optional(),
  replicas: z.coerce.number().int().min(0).max(16).optional(),
})

/** `DRAGOMAN_SEARCH` as a location; undefined if it is not one. HTTP reaches this machine alone. */
export function engineLocation(setting: string): EngineLocation | undefined {
  const [, scheme, rest] = /^elasticsearch\+(https?):\/\/(.+)$/.exec(setting) ?? []
  const text = `${scheme}://${rest}`
  if (scheme === undefined || !URL.canParse(text)) return undefined
  const parsed = new URL(text)
  const { origin, pathname, username, password, search, hash } = parsed
  if (scheme === 'http' && !isLoopbackUrl(parsed)) return undefined
  const [, path = '', index = ''] = /^(.*)\/([^/]*)$/.exec(pathname) ?? []
  if (!/^[a-z0-9][a-z0-9_.-]{0,99}$/.test(index) || hash !== '') return undefined
  const parts = Parts.safeParse(Object.fromEntries(new URLSearchParams(search)))
  if (!parts.success) return undefined
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const authorization = username === '' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
  return { url: `${origin}${path}`, authorization, index, ...parts.data }
}

/**
 * The engine throws Failure `unavailable` if it is away, slow, overloaded or refuses; the signal's reason when it has
 * aborted; an Error for a request that it does not understand. `404` is an answer.
 */
export function createEngine(
  { url, authorization }: EngineLocation,
  fetch: EngineFetch,
  observer?: EngineObserver,
): Engine {
  const { host } = new URL(url)
  const accepted = { accept: 'application/json', ...(authorization !== undefined && { authorization }) }

  function failed(message: string, cause: unknown): Failure {
    const fault = new UnreachableEngine('unavailable', message, { retry_after_s }, cause)
    observer?.onFault(fault)
    return fault
  }

  return async (method, path, body, { signal = noSignal, timeout_ms = searchTimeout_ms } = {}) => {
    signal.throwIfAborted()
    const isLines = Array.isArray(body)
    const type = isLines ? 'application/x-ndjson' : 'application/json'
    const answer = await fetch({
      url: `${url}/${path}`,
      method,
      headers: body === undefined ? accepted : { ...accepted, 'content-type': type },
      ...(body !== undefined && { body: isLines ? `${body.join('\n')}\n` : JSON.stringify(body) }),
      signal,
      max_bytes: maxBytes,
      timeout_ms,
    }).catch((fault) => {
      signal.throwIfAborted()
      throw failed('The search engine does not answer.', fault)
    })
    const { status } = answer
    const json = readJson(answer.body)
    if (status < 300 || status === 404) {
      observer?.onAnswer()
      return { status, json }
    }
    const reason = reasonOf(json)
    if (passing.has(status))
      throw failed(
        'The search engine refuses requests now.',
        new Error(`${host} answers ${status}: ${reason}`),
      )
    observer?.onAnswer()
    throw new EngineRefusal(
      `The search engine at ${host} answers ${status} to ${method} ${path}: ${reason}`,
      json,
    )
  }
}

/** The engine does not answer, or refuses every request. */
export class UnreachableEngine extends Failure {}

/** The engine does not understand a request. */
export class EngineRefusal extends Error {
  override readonly name = 'EngineRefusal'
  readonly type: string

  constructor(message: string, answer: JsonObject) {
    super(message)
    this.type = errorOf(answer).type ?? ''
  }
}

/** The engine cannot be used now. Callers see the message, and the log has the cause: it may name hosts and users. */
export function away(message: string, cause?: unknown): Failure {
  return new Failure('unavailable', message, { retry_after_s }, cause)
}

/** The error in an answer; without a type if it has none. */
export function errorOf({ error }: JsonObject): { readonly type?: string; readonly reason?: string } {
  return typeof error === 'object' && error !== null ? (error as { type?: string; reason?: string }) : {}
}

function reasonOf(json: JsonObject): string {
  const { reason = 'no reason', type = 'error' } = errorOf(json)
  return `${type}, ${reason.slice(0, 300)}`
}

function readJson(body: Uint8Array): JsonObject {
  return (parseJson(new TextDecoder().decode(body)) ?? {}) as JsonObject
}
