import { Agent, request as send } from 'undici'
import { readBody } from './body.ts'
import { guardedConnector, type Lookup } from './connector.ts'
import { abortable } from './deadline.ts'
import type { FetchResponse } from './fetch.ts'
import { type Hop, nextHop } from './redirect.ts'
import type { Rules } from './rules.ts'

type Answer = Pick<FetchResponse, 'status' | 'headers' | 'body'>

/** One HTTP exchange after another, over connections that the rules allow. */
export interface Client extends AsyncDisposable {
  /** Sends one hop; gives its answer, or the hop it leads to with the answer's body thrown away. */
  exchange(hop: Hop, signal: AbortSignal, maxBytes: number): Promise<Answer | Hop>
}

/** `idle` is how many milliseconds the other side may be silent. */
export function createClient(lookup: Lookup, rules: Rules, idle: number): Client {
  const dispatcher = new Agent({
    connect: guardedConnector(lookup, rules),
    allowH2: false,
    maxHeaderSize: 16 * 1024,
    headersTimeout: idle,
    bodyTimeout: idle,
    connections: 32,
  })
  return {
    async exchange(hop, signal, maxBytes) {
      const { url, method, headers, body } = hop
      // undici lets a signal end a request only once it has a connection.
      const response = await abortable(
        send(url, { dispatcher, method, headers, body: body ?? null, signal }),
        signal,
      )
      // What ends a body early (a refusal below, a destroyed stream) is reported once, by whoever ended it.
      response.body.on('error', () => {})
      try {
        const plain = plainHeaders(response.headers)
        const next = nextHop(hop, response.statusCode, plain.location, rules)
        if (next) return next
        const bytes = method === 'HEAD' ? new Uint8Array() : await readBody(response.body, plain, maxBytes)
        return { status: response.statusCode, headers: plain, body: bytes }
      } finally {
        response.body.destroy()
      }
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
