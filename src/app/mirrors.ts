import { publisherOf } from '../../schemas/ard.ts'
import type { MirrorKind } from '../../schemas/mirror.ts'
import { Mirrors } from '../registry/mirror/mirrors.ts'
import { MirrorRunner } from '../registry/mirror/runner.ts'
import { createArdSource } from '../registry/mirror/sources/ard-source.ts'
import { createCardsSource } from '../registry/mirror/sources/cards.ts'
import { detectKind } from '../registry/mirror/sources/detect.ts'
import { createLinesSource } from '../registry/mirror/sources/lines.ts'
import { createMcpRegistrySource } from '../registry/mirror/sources/mcp-registry.ts'
import { createReadSource, type ReadSource } from '../registry/mirror/sources/read-source.ts'
import type { MirrorSource } from '../registry/mirror/sources/source.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Outbound } from './outbound.ts'
import type { RegistryServices } from './registry.ts'
import type { Runtime } from './runtime.ts'
import type { Search } from './search.ts'

interface MirrorPorts {
  readonly store: Store
  readonly outbound: Outbound
  readonly search: Search
  readonly tailer: RegistryServices['tailer']
  readonly metrics: Metrics
}

/** Registries may take half a minute to their first byte. */
const idleMilliseconds = 60_000

/** `own`: the publisher of this registry in identifiers of ARD. */
type CreateSource = (url: string, read: ReadSource, own: string) => MirrorSource

const sources: Readonly<Record<MirrorKind, CreateSource>> = {
  'mcp-registry': createMcpRegistrySource,
  ard: createArdSource,
  cards: createCardsSource,
  lines: createLinesSource,
}

/** The mirrors of the registry: other registries and lists whose agents are listed here. */
export function openMirrors(runtime: Runtime, ports: MirrorPorts): Mirrors {
  const { stack, config, clock, wait, createId, site } = runtime
  const { store, outbound, search, tailer, metrics } = ports
  const { fetch } = outbound.reach({
    allow_origins: config.DRAGOMAN_ALLOW_ORIGINS,
    idle_ms: idleMilliseconds,
  })
  const read = createReadSource({ fetch, clock, wait })
  const runner = new MirrorRunner({
    store,
    clock,
    createId,
    holder: createId(),
    sourceOf: ({ kind, url }) => sources[kind](url, read, publisherOf(site().base_url)),
    applied: (revision) => tailer.caughtUp(revision),
    onPage: metrics.mirrored,
    limits: runtime.options.mirror_limits,
  })
  metrics.watchMirrors(() => store.mirrors.list())
  return stack.use(
    new Mirrors({
      store,
      clock,
      runner,
      kindAt: (url, signal) => detectKind(url, read, signal),
      async applied(revision) {
        await Promise.all([tailer.caughtUp(revision), search.vectors.caughtUp(revision)])
      },
      async saveSnapshots() {
        await Promise.all([search.saveSnapshot(0), search.vectors.saveSnapshots()])
      },
      own_origins: () => [site().base_url, site().site_url].map((url) => new URL(url).origin),
      onError: (fault, name) => runtime.onErrorOf(`mirror ${name}`, 'warn')(fault),
    }),
  )
}
