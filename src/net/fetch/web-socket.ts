import type { ClientRequestArgs } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { bareHost } from './address.ts'
import type { Lookup } from './connector.ts'
import { checkUrl, type Rules } from './rules.ts'

/** It answers by the callback alone. */
export type CreateConnection = NonNullable<ClientRequestArgs['createConnection']>

/**
 * What carries a WebSocket to a ws or wss URL: a TCP or TLS connection that is guarded as fetch is. Throws Failure
 * `invalid_request` or `blocked_address` for what the URL alone tells; what its name resolves to comes by the callback.
 */
export type Dial = (url: string) => CreateConnection

export function createDial(lookup: Lookup, rules: Rules): Dial {
  let loading: ReturnType<typeof load> | undefined

  /** The connector is of the HTTP client, which a start does not pay for. */
  async function load() {
    const { guardedConnector } = await import('./connector.ts')
    return guardedConnector(lookup, rules)
  }

  return (url) => {
    const { protocol, hostname, host, port } = checkUrl(url.replace(/^ws(s?):/i, 'http$1:'), rules)
    const bare = bareHost(hostname)
    const place = { protocol, hostname: bare, host, port, ...(isIP(bare) === 0 && { servername: bare }) }
    return (_options, settle) => {
      // Where there is an error, there is no socket.
      const done = settle as (error: Error | null, socket?: Socket) => void
      loading ??= load()
      loading
        .then((connect) => connect(place, (...[error, socket]) => (error ? done(error) : done(null, socket))))
        .catch(done)
      return undefined
    }
  }
}
