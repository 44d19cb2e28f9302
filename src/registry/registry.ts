import type { EntryDetail } from '../../schemas/card.ts'
import type { LivenessOutcome } from '../../schemas/liveness.ts'
import type { Change } from '../../schemas/publication.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { VerificationOutcome } from '../../schemas/trust.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { type CardsOptions, createCards } from './cards/cards.ts'
import { createDeprecate, type Deprecating } from './entry/deprecation.ts'
import { type Committed, createEditor, type EditorOptions } from './entry/editor.ts'
import { createOwnershipService, type Recipient, type Suspending } from './entry/ownership.ts'
import type { Site } from './entry/site.ts'
import { createHistory } from './entry/versions.ts'
import { createViews } from './entry/view.ts'
import { importLines } from './import/importer.ts'
import type { Follower } from './indexing/index-tailer.ts'
import type { VectorIndexSwitch } from './indexing/vector-index-switch.ts'
import type { LivenessCache } from './liveness/liveness-cache.ts'
import type { Prober } from './liveness/prober.ts'
import { createFinder } from './queries/search-service.ts'
import { createValidator } from './verification/validator.ts'
import { createVerifier, type Verified, type VerifierOptions } from './verification/verifier.ts'

export interface RegistryOptions extends EditorOptions {
  readonly index: SearchIndex
  readonly follower: Follower
  /** Without it, words alone decide. */
  readonly dense?: Pick<VectorIndexSwitch, 'ready' | 'caughtUp' | 'progress'>
  readonly site: () => Site
  readonly signer: CardsOptions['signer']
  readonly agents: CardsOptions['agents']
  readonly prove: VerifierOptions['prove']
  readonly secret: VerifierOptions['secret']
  readonly liveness: { readonly livenessCache: LivenessCache; readonly prober: Pick<Prober, 'check'> }
}

/** The registry's domain: what the registry agent's actions do. A write answers once the index has applied it. */
export function createRegistry(options: RegistryOptions) {
  const { store, index, follower, dense, site } = options
  const { livenessCache, prober } = options.liveness
  const views = createViews(site, livenessCache)
  const { stored, written, ...finder } = createFinder({
    reader: store.read,
    index,
    follower,
    dense,
    views,
    livenessCache,
  })
  const history = createHistory(store, { ...finder, stored }, views)
  const editor = createEditor(options)
  const deprecate = createDeprecate(editor)
  const verifier = createVerifier({ ...options, reader: store.read, editor })
  const { report, audit, ...ownership } = createOwnershipService(store, editor, options.clock)

  /** What is written is found at once by whoever asks this process, by its words and by its meaning. */
  async function applied(revision: number): Promise<void> {
    await Promise.all([follower.caughtUp(revision), dense?.caughtUp(revision)])
  }

  async function settled(work: Promise<Committed>, caller: Principal | null): Promise<EntryDetail> {
    const { id, revision } = await work
    await applied(revision)
    return await written(id, caller)
  }

  async function answered(work: Promise<Verified>): Promise<VerificationOutcome> {
    const { outcome, committed } = await work
    if (committed) await applied(committed.revision)
    return outcome
  }

  return {
    ...finder,
    ...history,
    ...createCards({ finder: { ...finder, stored }, site, agents: options.agents, signer: options.signer }),
    async check(agent: string, caller: Principal | null, signal: AbortSignal): Promise<LivenessOutcome> {
      const entry = await stored(agent, caller)
      const { signals, revision } = await prober.check(entry, signal)
      await Promise.all([livenessCache.sweep(), applied(revision)])
      return { package_name: entry.package_name, liveness: livenessCache.of(entry), signals: [...signals] }
    },
    validate: createValidator(options.fetchCard),
    verify: (...call: Parameters<typeof verifier.verify>) => answered(verifier.verify(...call)),
    claim: (...call: Parameters<typeof verifier.claim>) => answered(verifier.claim(...call)),
    publish: (...[publication, caller, signal]: Parameters<typeof editor.publish>) =>
      settled(editor.publish(publication, caller, signal), caller),
    update: (...[change, publication, caller]: Parameters<typeof editor.update>) =>
      settled(editor.update(change, publication, caller), caller),
    goLive: (change: Change, caller: Principal | null) =>
      settled(editor.move(change, 'STAGE', 'ACTIVE', caller), caller),
    unpublish: (change: Change, caller: Principal | null) =>
      settled(editor.move(change, 'ACTIVE', 'STAGE', caller), caller),
    /** What is given away in STAGE is no longer seen by who gave it. */
    async transfer(change: Change, to: Recipient, caller: Principal | null) {
      const { id, package_name, revision } = await ownership.transfer(change, to, caller)
      await applied(revision)
      return { id, package_name, revision }
    },
    suspend: (request: Suspending, caller: Principal | null) =>
      settled(ownership.suspend(request, caller), caller),
    deprecate: (request: Deprecating, caller: Principal | null) =>
      settled(deprecate(request, caller), caller),
    report,
    audit,
    async remove(...[change, caller]: Parameters<typeof editor.remove>) {
      const { revision } = await editor.remove(change, caller)
      await applied(revision)
    },
    async importLines(lines: readonly string[], first: number, caller: Principal | null = null) {
      const { report, revision } = await importLines(options, lines, first, caller)
      await applied(revision)
      return report
    },
  }
}

export type Registry = ReturnType<typeof createRegistry>
