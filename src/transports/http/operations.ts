import type { IncomingMessage } from 'node:http'
import { abortable } from '../../common/abort.ts'
import type { Mount } from './app.ts'
import { send } from './respond.ts'

const plain = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
const localHost = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/
const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** Time for the database to answer. */
const storeMilliseconds = 2500

interface OperationsContext {
  readonly ready: Promise<void>
  readonly tailer: { readonly applied_revision: number }
  readonly vectors: { progress(): object }
  /** Reasons why the gateway needs its operator although it answers. */
  readonly health: Iterable<string>
  readonly store: { readonly read: { revision(): Promise<number> } }
  readonly metrics: { render(): Promise<string>; readonly content_type: string }
}

/**
 * Liveness, readiness (the index has caught up since the start, and the database answers) and metrics. `proof`: headers
 * by which this server proves to a local process which one it is.
 */
export function operations(
  { ready: begun, tailer, vectors, health, metrics, store }: OperationsContext,
  readers: 'loopback' | 'public' | 'off',
  draining: () => boolean,
  proof: (request: IncomingMessage) => Readonly<Record<string, string>>,
): Mount[] {
  let started = false
  begun.then(
    () => {
      started = true
    },
    () => {},
  )

  const healthz: Mount['handler'] = async (request, response) => {
    send(request, response, 200, '{"status":"ok"}', plain)
  }

  const readyz: Mount['handler'] = async (request, response) => {
    // A database that has frozen refuses nothing: balancers do not wait for the time-out of its statement.
    const late = AbortSignal.timeout(storeMilliseconds)
    const revision = await abortable(store.read.revision(), late).catch(() => undefined)
    const { applied_revision } = tailer
    const ready = started && !draining() && revision !== undefined
    const reasons = [...health, ...(revision === undefined ? ['store_unavailable'] : [])]
    const working = reasons.length === 0 ? 'ready' : 'degraded'
    const body = {
      status: ready ? working : 'not ready',
      reasons,
      draining: draining(),
      applied_revision,
      revision: revision ?? null,
      meaning: vectors.progress(),
    }
    send(request, response, ready ? 200 : 503, JSON.stringify(body), { ...plain, ...proof(request) })
  }

  const scrape: Mount['handler'] = async (request, response) => {
    const forwarded = 'forwarded' in request.headers || 'x-forwarded-for' in request.headers
    const named = localHost.test(request.headers.host ?? '')
    const near = loopback.has(request.socket.remoteAddress ?? '') && named && !forwarded
    if (readers === 'loopback' && !near) {
      send(request, response, 403, '{"status":"metrics are read from loopback"}', plain)
      return
    }
    const text = await metrics.render()
    send(request, response, 200, text, { 'Content-Type': metrics.content_type, 'Cache-Control': 'no-store' })
  }
  return [
    { method: 'get', path: '/healthz', handler: healthz },
    { method: 'get', path: '/readyz', handler: readyz },
    ...(readers === 'off' ? [] : [{ method: 'get', path: '/metrics', handler: scrape } as const]),
  ]
}
