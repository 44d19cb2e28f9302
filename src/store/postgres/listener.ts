import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { linkSignals } from '../../common/abort.ts'
import { clientOptions, type Sockets } from './connect.ts'
import { selectCounters, toCounters } from './counters.ts'
import { refusalOf, storeFailure } from './faults.ts'
import type { Invalidations } from './invalidations.ts'

/** The channel for notifications of commits that other processes wait for: the last revision written, if it is known. */
export const channel = 'dragoman_changes'

const pollMilliseconds = 1000
const statementMilliseconds = 3000
const firstRetry = 50
const lastRetry = 1000

interface ListenerOptions {
  readonly url: string
  readonly sockets?: Sockets
  readonly invalidations: Invalidations
  /** Called each time the connection is lost, or is not made. */
  readonly onError: (fault: unknown) => void
  /** Called while the server is a replica, about once a second. */
  readonly onReplica?: (() => void) | undefined
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called with the milliseconds by which the server's clock is ahead of this one, about once a second. */
  readonly onClock?: ((ahead: number) => void) | undefined
  /** Called after each answer, about once a second. */
  readonly onAnswer?: (() => void) | undefined
}

/**
 * Listens on its own connection. It reads the counters at a notification without a revision, and once a second, so that
 * a lost notification costs one second. A broken connection is opened again after increasing pauses, at most one second.
 */
export function openListener({
  url,
  sockets,
  invalidations,
  onError,
  onReplica,
  clock,
  onClock,
  onAnswer,
}: ListenerOptions): AsyncDisposable {
  const stop = new AbortController()
  let wasConnected = false
  const ended = listen()

  async function listen(): Promise<void> {
    let wait = firstRetry
    while (!stop.signal.aborted) {
      const fault = await session(() => {
        wait = firstRetry
        onAnswer?.()
      })
      if (stop.signal.aborted) return
      onError(storeFailure(fault))
      await pause(wait, undefined, { signal: stop.signal }).catch(() => {})
      wait = Math.min(wait * 2, lastRetry)
    }
  }

  /** Runs one connection; resolves with the reason of its end. */
  async function session(answered: () => void): Promise<unknown> {
    const client = new pg.Client(clientOptions(url, { statement: statementMilliseconds, lock: 0 }, sockets))
    const broken = new AbortController()
    client.on('error', (fault) => broken.abort(fault))
    client.on('end', () => broken.abort(new Error('Connection terminated')))
    let wake = () => {}
    client.on('notification', ({ payload = '' }) => {
      if (payload === '') wake()
      else invalidations.announceRevision(Number(payload))
    })
    try {
      await client.connect()
      if (wasConnected) invalidations.reconnected()
      wasConnected = true
      let isListening = false
      while (!stop.signal.aborted) {
        if (!isListening) isListening = await subscribe(client)
        const awake = new AbortController()
        wake = () => awake.abort()
        const start = invalidations.startRead()
        const sent_at = clock()
        const { rows } = await client.query(selectCounters)
        const answered_at = clock()
        // A process that was paused meanwhile learns nothing of the clock.
        if (rows[0] && answered_at - sent_at < statementMilliseconds)
          onClock?.(rows[0].now * 1000 - (sent_at + answered_at) / 2)
        invalidations.finishRead(toCounters(rows), start)
        answered()
        // Not a race with a promise of the whole session, which would hold each turn until the session ends.
        using silence = linkSignals(stop.signal, broken.signal, awake.signal)
        await pause(pollMilliseconds, undefined, { signal: silence.signal }).catch(() => {})
        broken.signal.throwIfAborted()
      }
      return undefined
    } catch (fault) {
      return fault
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** False for a replica, which sends no notifications. */
  async function subscribe(client: pg.Client): Promise<boolean> {
    try {
      await client.query(`listen ${channel}`)
      return true
    } catch (fault) {
      if (refusalOf(fault) !== 'read_only') throw fault
      onReplica?.()
      return false
    }
  }

  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended
    },
  }
}
