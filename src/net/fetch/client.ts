import type { Readable } from 'node:stream'
import { Agent, request as send } from 'undici'
import { abortable } from '../../common/abort.ts'
import { decoded, tooLarge } from './body.ts'
import { gather } from './buffered-request.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import type { FetchResponse } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import type { Rules } from './rules.ts'

type Answer = Pick<FetchResponse, 'status' | 'headers' | 'body'>

/** An answer whose body is still to be read, or destroyed. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Readable
}

/** One HTTP exchange after another, over connections that the rules allow. */
export interface Client extends AsyncDisposable {
  /** Sends one hop; gives its answer, or the hop it leads to with the answer's body thrown away. */
  exchange(hop: Hop, signal: AbortSignal, maxBytes: number): Promise<Answer | Hop>
  /** Sends one hop; gives its answer once the head of it is there. */
  open(hop: Hop, signal: AbortSignal): Promise<OpenAnswer>
}

export interface ClientOptions {
  /** Milliseconds that the other side may be silent. */
  readonly idle_ms: number
  /** To one origin; null: as many as are asked for. */
  readonly connections: number | null
}

export function createClient(lookup: Lookup, rules: Rules, { idle_ms, connections }: ClientOptions): Client {
  const dispatcher = new Agent({
    connect: guardedConnector(lookup, rules),
    allowH2: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: idle_ms,
    bodyTimeout: idle_ms,
    connections,
  })

  async function open({ url, method, headers, body }: Hop, signal: AbortSignal): Promise<OpenAnswer> {
    // undici lets a signal end a request only once it has a connection.
    const response = await abortable(
      send(url, { dispatcher, method, headers, body: body ?? null, signal }),
      signal,
    )
    // What ends a body early (a refusal, a destroyed stream) is reported once, by whoever ended it.
    response.body.on('error', () => {})
    return { status: response.statusCode, headers: plainHeaders(response.headers), body: response.body }
  }

  return {
    open,
    async exchange(hop, signal, max_bytes) {
      const { url, method, headers, body } = hop
      let next: Hop | undefined
      const { origin, pathname, search } = url
      const answer = await gather(
        dispatcher,
        { origin, path: pathname + search, method, headers, body: body ?? null },
        {
          signal,
          max_bytes,
          tooLarge: () => tooLarge(max_bytes),
          wants(status, { location, 'content-length': length }) {
            next = nextHop(hop, status, location, rules)
            if (next) return false
            if (method !== 'HEAD' && Number(length ?? 0) > max_bytes) throw tooLarge(max_bytes)
            return true
          },
        },
      )
      if (next) return next
      const told = plainHeaders(answer.headers)
      return { status: answer.status, headers: told, body: await decoded(answer.body, told, max_bytes) }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name, value]) => name !== 'set-cookie' && value !== undefined)
    .map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : (value ?? '')])
  return Object.fromEntries(entries)
}
