import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { clientOptions } from './connect.ts'
import { askCounters, toCounters } from './counters.ts'
import type { News } from './invalidations.ts'

/** Where every commit that somebody waits for is notified. */
export const channel = 'dragoman_changes'

const pollMilliseconds = 1000
const statementMilliseconds = 3000
const firstRetry = 50
const lastRetry = 1000

interface ListenerOptions {
  readonly url: string
  readonly news: News
  /** Hears of each time that the connection is lost. */
  readonly onError: (fault: unknown) => void
}

/**
 * Listens on a connection of its own, and asks once a second: a notification that is lost costs a second and nothing
 * else. A connection that breaks is made anew, sooner first and then once a second.
 */
export function openListener({ url, news, onError }: ListenerOptions): AsyncDisposable {
  const stop = new AbortController()
  const ended = listen()

  async function listen(): Promise<void> {
    let wait = firstRetry
    while (!stop.signal.aborted) {
      const fault = await session(() => {
        wait = firstRetry
      })
      if (stop.signal.aborted) return
      if (wait === firstRetry) onError(fault)
      await pause(wait, undefined, { signal: stop.signal }).catch(() => {})
      wait = Math.min(wait * 2, lastRetry)
    }
  }

  /** One connection, to its end; why it ended. `connected` is told each time that it has answered. */
  async function session(connected: () => void): Promise<unknown> {
    const client = new pg.Client(clientOptions(url, { statement: statementMilliseconds, lock: 0 }))
    const broken = Promise.withResolvers<never>()
    broken.promise.catch(() => {})
    client.on('error', broken.reject)
    client.on('end', () => broken.reject(new Error('Connection terminated')))
    let ring = () => {}
    client.on('notification', () => ring())
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      while (!stop.signal.aborted) {
        const rung = new AbortController()
        ring = () => rung.abort()
        const asked = news.ask()
        const { rows } = await client.query(askCounters)
        news.heard(toCounters(rows), asked)
        connected()
        const enough = AbortSignal.any([stop.signal, rung.signal])
        const quiet = pause(pollMilliseconds, undefined, { signal: enough }).catch(() => {})
        await Promise.race([quiet, broken.promise])
      }
      return undefined
    } catch (fault) {
      return fault
    } finally {
      await client.end().catch(() => {})
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
