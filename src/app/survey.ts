import { monotonic } from '../common/clock.ts'
import { createRate } from '../common/rate.ts'
import type { Fetch, Open } from '../net/fetch/fetch.ts'
import { CapabilityReader } from '../registry/capabilities/reader.ts'
import { Survey } from '../registry/capabilities/survey.ts'
import { createMcpConnect } from '../remote/mcp/mcp.ts'
import type { Store } from '../store/store.ts'
import { version } from './assets.ts'
import type { Outbound } from './outbound.ts'
import { readServerBy } from './remote.ts'
import type { Runtime } from './runtime.ts'

/** The pace of the requests to servers that nobody asked to be read. */
const oneASecond = { gap_ms: 1_000, burst: 1 }
/** Time-out of one reading, in milliseconds: its requests wait for their turns. */
const readingMilliseconds = 60_000

/** The survey of servers without an owner: one request a second, over one connection a host. */
export function openSurvey(runtime: Runtime, store: Store, outbound: Outbound): Survey {
  const { config, clock, wait } = runtime
  const allow_origins = config.DRAGOMAN_ALLOW_ORIGINS
  const guarded = outbound.reach({ allow_origins, connections: 1, idle_ms: readingMilliseconds })
  const turn = createRate(oneASecond, Number.POSITIVE_INFINITY, monotonic(clock), wait)
  const open: Open = async (request) => {
    await turn(request.signal)
    return await guarded.open(request)
  }
  const fetch: Fetch = async (request) => {
    await turn(request.signal)
    return await guarded.fetch(request)
  }
  const { dial } = guarded
  const connect = createMcpConnect({ open, dial, clock, client: { name: 'dragoman', version } })
  const readServer = readServerBy((endpoint) => {
    const { host } = new URL(endpoint.url)
    return connect(endpoint, { package_name: host, address: host, card: {} })
  })
  const reader = new CapabilityReader({ store, clock, readServer, fetch, timeout_ms: readingMilliseconds })
  return new Survey({ store, reader, fetch, clock, onError: runtime.onErrorOf('survey') })
}
