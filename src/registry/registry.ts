import type { EntryDetail } from '../../schemas/card.ts'
import type { InstallConfig } from '../../schemas/install.ts'
import type { LivenessOutcome } from '../../schemas/liveness.ts'
import type { Change, Publication } from '../../schemas/publication.ts'
import type { AgentIcon, Readme } from '../../schemas/publisher-file.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { Site } from '../../schemas/site.ts'
import type { UpstreamCall } from '../common/upstream.ts'
import type { SearchIndex } from '../search/search-index.ts'
import type { CallCounter } from './call-counter.ts'
import type { CapabilityReader } from './capabilities/reader.ts'
import { type CardsOptions, createCards } from './cards/cards.ts'
import { createCatalog } from './catalog/catalog.ts'
import { createAuditLog } from './entry/audit-log.ts'
import { createCredentialMarks } from './entry/credential-marks.ts'
import { createDeprecate } from './entry/deprecation.ts'
import { type Committed, Editor, type EditorOptions } from './entry/editor.ts'
import { createModeration } from './entry/moderation.ts'
import { privateAddresses } from './entry/private-address.ts'
import { createTransfers } from './entry/transfers.ts'
import { VersionHistory } from './entry/versions.ts'
import { createViews } from './entry/view.ts'
import { createFederate, type FederationOptions } from './federation/federation.ts'
import { importLines } from './import/importer.ts'
import type { VectorIndexSwitch } from './indexing/vector-index-switch.ts'
import { type InstallQuery, installConfigOf } from './install/install-config.ts'
import type { LivenessCache } from './liveness/liveness-cache.ts'
import type { Prober } from './liveness/prober.ts'
import type { PublisherFiles } from './publisher/publisher-files.ts'
import { createDayHistories } from './queries/day-histories.ts'
import { SearchService, type SearchServiceOptions } from './queries/search-service.ts'
import type { UnmetQueries } from './queries/unmet-queries.ts'
import { createPersonalData } from './retention/personal-data.ts'
import { createPurge } from './retention/purge.ts'
import { createValidator } from './verification/validator.ts'
import { createVerifier, type VerifierOptions } from './verification/verifier.ts'

interface RegistryOptions extends Omit<EditorOptions, 'applied'> {
  /** Writes the snapshots of the indexes anew. */
  readonly saveSnapshots: () => Promise<void>
  readonly index: SearchIndex
  readonly tailer: SearchServiceOptions['tailer']
  readonly start_wait_ms?: SearchServiceOptions['start_wait_ms']
  /** Search by meaning; without it, search is by words alone. */
  readonly vectors?: Pick<VectorIndexSwitch, 'ready' | 'caughtUp' | 'progress' | 'is_failing'>
  readonly site: () => Site
  /** Origins that the operator exempts from the rule of public addresses. */
  readonly allowOrigins?: readonly string[]
  readonly signer: CardsOptions['signer']
  readonly agents: CardsOptions['agents']
  readonly prove: VerifierOptions['prove']
  readonly secret: VerifierOptions['secret']
  /** Reads the tools of a server; without it, none are read. */
  readonly reader?: Pick<CapabilityReader, 'read'>
  /** Ends and removes what a principal key has beside the store: sign-ins to listed agents, files of packages. */
  readonly onDeparture: (owner: string) => Promise<void>
  /** The issuers whose subjects can own entries. */
  readonly issuers: readonly string[]
  /** Called with the package name of each entry that a caller resolves. */
  readonly onShown?: (packageName: string) => void
  /** Called with each query that found too little. */
  readonly onUnmet?: UnmetQueries['note'] | undefined
  /** The other registries that searches ask, and how. */
  readonly federation: Pick<FederationOptions, 'upstreams' | 'ask' | 'wait'>
  readonly publisherFiles: PublisherFiles
  readonly calls: Pick<CallCounter, 'flush'>
  readonly liveness: { readonly livenessCache: LivenessCache; readonly prober: Pick<Prober, 'check'> }
}

type Caller = Principal | null

/** The operations behind the actions of the registry's agent; its ports (agents/registry/port.ts) say what each does. */
export type Registry = ReturnType<typeof createRegistry>

/** Makes the registry over a store and its indexes. A write returns once the indexes have applied it. */
export function createRegistry(options: RegistryOptions) {
  const { store, index, tailer, vectors, site } = options
  const { reader, onShown } = options
  const { livenessCache, prober } = options.liveness
  const views = createViews(site, livenessCache, options.publisherFiles.isOn)
  const credentialMarks = createCredentialMarks(store.credentials)
  const queries = new SearchService({
    reader: store.read,
    index,
    tailer,
    vectors,
    views,
    livenessCache,
    credentialMarks,
    start_wait_ms: options.start_wait_ms,
  })
  const history = new VersionHistory(store, queries, views)
  const editor = new Editor({ ...options, applied })
  const transfers = createTransfers(store, editor, options.issuers)
  const moderation = createModeration(store, editor, options.clock)

  /** The next search of this process then finds the written entry by its words and by its meaning. */
  async function applied(revision: number): Promise<void> {
    await Promise.all([tailer.caughtUp(revision), vectors?.caughtUp(revision)])
  }

  /** The written entry as it is then. */
  const shown = async (write: Promise<Committed>, caller: Caller): Promise<EntryDetail> =>
    await queries.written((await write).id, caller)

  /** A write that answers with its entry. */
  const showing =
    <Request>(write: (request: Request, caller: Caller) => Promise<Committed>) =>
    (request: Request, caller: Caller) =>
      shown(write(request, caller), caller)

  async function warned(
    write: Promise<Committed>,
    publication: Publication,
    caller: Caller,
  ): Promise<EntryDetail> {
    const warnings = privateAddresses(publication, options.allowOrigins ?? [])
    const entry = await shown(write, caller)
    return warnings.length > 0 ? { ...entry, warnings } : entry
  }

  return {
    ...createCards({ queries, site, agents: options.agents, signer: options.signer }),
    search: queries.search.bind(queries),
    noteUnmet: options.onUnmet ?? (() => {}),
    searchBrief: queries.searchBrief.bind(queries),
    servers: createCatalog({ ...options, editor, views, search: queries.search.bind(queries), applied }),
    get: queries.get.bind(queries),
    async installConfig(agent: string, query: InstallQuery, caller: Caller): Promise<InstallConfig> {
      return installConfigOf(
        await queries.get(agent, caller),
        { base_url: site().base_url, allowed: options.allowOrigins ?? [] },
        query,
      )
    },
    async readme(agent: string, caller: Caller, call: UpstreamCall): Promise<Readme> {
      return await options.publisherFiles.readme(await queries.stored(agent, caller), call)
    },
    async icon(agent: string, caller: Caller, call: UpstreamCall): Promise<AgentIcon> {
      return await options.publisherFiles.icon(await queries.stored(agent, caller), call)
    },
    federate: createFederate({ ...options.federation, reader: store.read, site }),
    markCredentials: credentialMarks.mark,
    suggest: queries.suggest.bind(queries),
    completeName: queries.completeName.bind(queries),
    versions: history.versions.bind(history),
    diffVersions: history.diff.bind(history),
    ...createDayHistories({ ...options, queries }),
    async resolve(...call: Parameters<VersionHistory['resolve']>) {
      const found = await history.resolve(...call)
      onShown?.(found.package_name)
      return found
    },
    async check(agent: string, caller: Caller, signal: AbortSignal): Promise<LivenessOutcome> {
      const entry = await queries.stored(agent, caller)
      const [{ signals, revision }, read] = await Promise.all([
        prober.check(entry, signal),
        reader?.read(entry.id, signal) ?? 0,
      ])
      await Promise.all([livenessCache.sweep(), applied(Math.max(revision, read))])
      return { package_name: entry.package_name, liveness: livenessCache.of(entry), signals: [...signals] }
    },
    validate: createValidator(options.fetchCard, store.read),
    ...createVerifier({ ...options, reader: store.read, editor }),
    publish: (publication: Publication, caller: Caller, signal: AbortSignal) =>
      warned(editor.publish(publication, caller, signal), publication, caller),
    update: (change: Change, publication: Publication, caller: Caller) =>
      warned(editor.update(change, publication, caller), publication, caller),
    goLive: showing<Change>((change, caller) => editor.move(change, 'STAGE', 'ACTIVE', caller)),
    unpublish: showing<Change>((change, caller) => editor.move(change, 'ACTIVE', 'STAGE', caller)),
    /** An admin's transfer may hide an entry in STAGE from its caller, so the entry is not the answer. */
    transfer: transfers.transfer,
    acceptTransfer: showing(transfers.accept),
    listTransfers: transfers.list,
    suspend: showing(moderation.suspend),
    listSuspensions: moderation.listSuspensions,
    deprecate: showing(createDeprecate(editor)),
    report: moderation.report,
    ...createAuditLog(store),
    purge: createPurge({ ...options, applied }),
    ...createPersonalData({ ...options, editor }),
    async remove(change: Change, caller: Caller): Promise<void> {
      await editor.remove(change, caller)
    },
    async importLines(lines: readonly string[], first: number, caller: Caller = null) {
      const { report, revision } = await importLines(options, lines, first, caller)
      await applied(revision)
      return report
    },
  }
}
