import { LRUCache } from 'lru-cache'
import { Failure } from '../../schemas/failure.ts'
import type { Clock, Fetch } from './port.ts'
import { secondsOf } from './status.ts'

/** Asked of one host at once; further requests wait. */
const mostAtOnce = 6
/** Seconds that a host is left alone at most, whatever it asked for. */
const longestRest = 3600
/** Hosts that asked for time and are remembered. */
const mostHosts = 10_000

/**
 * A fetch that asks one host for few things at once, and for nothing until the time is over that it asked for by
 * `Retry-After` (429 and 503). Throws Failure `circuit_open` meanwhile.
 */
export function createPoliteFetch(fetch: Fetch, clock: Clock): Fetch {
  const until = new LRUCache<string, number>({ max: mostHosts })
  const open = new Map<string, { count: number; readonly waiting: Set<() => void> }>()

  function refuseUntilRested(host: string): void {
    const rest = (until.get(host) ?? 0) - clock()
    if (rest <= 0) return
    const retry_after_s = Math.ceil(rest / 1000)
    throw new Failure('circuit_open', `${host} asked to be left alone for ${retry_after_s} s more.`, {
      retry_after_s,
    })
  }

  /** Resolves when it is this request's turn; rejects with the reason of the signal. */
  async function enter(host: string, signal: AbortSignal): Promise<void> {
    const taskManager = open.get(host) ?? { count: 0, waiting: new Set() }
    open.set(host, taskManager)
    if (taskManager.count < mostAtOnce) {
      taskManager.count++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        taskManager.waiting.delete(go)
        const { reason } = signal
        reject(reason instanceof Failure ? reason : new Failure('cancelled', 'The caller went away.'))
      }
      if (signal.aborted) return leave()
      signal.addEventListener('abort', leave, { once: true })
      taskManager.waiting.add(go)
    })
  }

  function exit(host: string): void {
    const taskManager = open.get(host)
    if (!taskManager) return
    const [next] = taskManager.waiting
    if (next) {
      taskManager.waiting.delete(next)
      next()
    } else if (--taskManager.count === 0) open.delete(host)
  }

  return async (request) => {
    const host = URL.canParse(request.url) ? new URL(request.url).host : ''
    refuseUntilRested(host)
    await enter(host, request.signal)
    try {
      refuseUntilRested(host)
      const response = await fetch(request)
      const rest = secondsOf(response.headers['retry-after'], clock())
      if (rest && (response.status === 429 || response.status === 503)) {
        until.set(new URL(response.url).host, clock() + Math.min(rest, longestRest) * 1000)
      }
      return response
    } finally {
      exit(host)
    }
  }
}
