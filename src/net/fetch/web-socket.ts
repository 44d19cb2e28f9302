import type { ClientRequestArgs } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { bareHost } from './address.ts'
import type { Lookup } from './connector.ts'
import { checkUrl, type Rules } from './rules.ts'

/** The function returns nothing; it passes the socket to the callback. */
type CreateConnection = NonNullable<ClientRequestArgs['createConnection']>

/**
 * Opens the TCP or TLS connection of a WebSocket to a ws or wss URL, guarded as fetch is. Throws Failure
 * `invalid_request` or `blocked_address` for the URL itself; the callback receives errors of the name resolution.
 */
export type Dial = (url: string) => CreateConnection

export function createDial(lookup: Lookup, rules: Rules): Dial {
  let loading: ReturnType<typeof load> | undefined

  /** The connector imports undici, which is loaded with the first connection to keep the start fast. */
  async function load() {
    const { guardedConnector } = await import('./connector.ts')
    return guardedConnector(lookup, rules)
  }

  return (url) => {
    const { protocol, hostname, host, port } = checkUrl(url.replace(/^ws(s?):/i, 'http$1:'), rules)
    const bare = bareHost(hostname)
    const target = { protocol, hostname: bare, host, port, ...(isIP(bare) === 0 && { servername: bare }) }
    return (_options, settle) => {
      // The type demands a socket; with an error there is none.
      const done = settle as (error: Error | null, socket?: Socket) => void
      loading ??= load()
      loading
        .then((connect) =>
          connect(target, (...[error, socket]) => (error ? done(error) : done(null, socket))),
        )
        .catch(done)
      return undefined
    }
  }
}
