import type { CallHistory } from '../../schemas/calls.ts'
import type { EntryDetail } from '../../schemas/card.ts'
import type { DeprecationInput } from '../../schemas/deprecation.ts'
import { Failure } from '../../schemas/failure.ts'
import type { InstallConfig } from '../../schemas/install.ts'
import type { LivenessHistory, LivenessOutcome } from '../../schemas/liveness.ts'
import type { Change, Publication } from '../../schemas/publication.ts'
import type { AgentIcon, Readme } from '../../schemas/publisher-file.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { AnyServer, ChangedServers, ListedServer, ServerStatusInput } from '../../schemas/server.ts'
import type { Site } from '../../schemas/site.ts'
import type { SuspensionInput } from '../../schemas/suspension.ts'
import type { TransferInput, TransferResult } from '../../schemas/transfer.ts'
import type { VerificationOutcome } from '../../schemas/trust.ts'
import { dateOfDay, dayOf } from '../common/days.ts'
import type { UpstreamCall } from '../common/upstream.ts'
import type { SearchIndex } from '../search/search-index.ts'
import { type CallCounter, sumOf } from './call-counter.ts'
import type { CapabilityReader } from './capabilities/reader.ts'
import { type CardsOptions, createCards } from './cards/cards.ts'
import { createPublishServer } from './catalog/publish-server.ts'
import { createServerRenderer } from './catalog/render-server.ts'
import { createServerStatus } from './catalog/server-status.ts'
import { ServerCatalog } from './catalog/servers.ts'
import { validateServer } from './catalog/validate-server.ts'
import { createCredentialMarks } from './entry/credential-marks.ts'
import { createDeprecate } from './entry/deprecation.ts'
import { type Committed, Editor, type EditorOptions } from './entry/editor.ts'
import { createOwnershipService } from './entry/ownership.ts'
import { mayRead } from './entry/permissions.ts'
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
import { SearchService, type SearchServiceOptions } from './queries/search-service.ts'
import type { UnmetQueries } from './queries/unmet-queries.ts'
import { createPersonalData } from './retention/personal-data.ts'
import { createPurge } from './retention/purge.ts'
import { createValidator } from './verification/validator.ts'
import { createVerifier, type Verified, type VerifierOptions } from './verification/verifier.ts'

interface RegistryOptions extends EditorOptions {
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
  const render = createServerRenderer(store, views, site)
  const catalog = new ServerCatalog({
    servers: store.servers,
    search: queries.search.bind(queries),
    render,
  })
  const history = new VersionHistory(store, queries, views)
  const editor = new Editor(options)
  const deprecate = createDeprecate(editor)
  const publishServer = createPublishServer({ ...options, editor })
  const setServerStatus = createServerStatus(options)
  const verifier = createVerifier({ ...options, reader: store.read, editor })
  const transfers = createTransfers(store, editor, options.issuers)
  const ownership = createOwnershipService(store, editor, options.clock)

  /** The next search of this process then finds the written entry by its words and by its meaning. */
  async function applied(revision: number): Promise<void> {
    await Promise.all([tailer.caughtUp(revision), vectors?.caughtUp(revision)])
  }

  /** Days that end today: the first one, since the epoch, and the span as dates. */
  function lastDays(days: number) {
    const today = dayOf(options.clock())
    const from = today - days + 1
    return { from, span: { from: dateOfDay(from), to: dateOfDay(today) } }
  }

  async function settled(work: Promise<Committed>, caller: Caller): Promise<EntryDetail> {
    const { id, revision } = await work
    await applied(revision)
    return await queries.written(id, caller)
  }

  async function warned(work: Promise<EntryDetail>, publication: Publication): Promise<EntryDetail> {
    const warnings = privateAddresses(publication, options.allowOrigins ?? [])
    const entry = await work
    return warnings.length > 0 ? { ...entry, warnings } : entry
  }

  async function answered(work: Promise<Verified>): Promise<VerificationOutcome> {
    const { outcome, committed } = await work
    if (committed) await applied(committed.revision)
    return outcome
  }

  return {
    ...createCards({ queries, site, agents: options.agents, signer: options.signer }),
    search: queries.search.bind(queries),
    noteUnmet: options.onUnmet ?? (() => {}),
    searchBrief: queries.searchBrief.bind(queries),
    servers: {
      list: catalog.list.bind(catalog),
      versions: catalog.versions.bind(catalog),
      get: catalog.get.bind(catalog),
      validate: validateServer,
      async publish(document: AnyServer, caller: Principal): Promise<ListedServer> {
        const { revision, name, version } = await publishServer(document, caller)
        await applied(revision)
        return await catalog.get(name, version, true)
      },
      async setStatus(input: ServerStatusInput, caller: Principal): Promise<ChangedServers> {
        const { rows, revision } = await setServerStatus(input, caller)
        await applied(revision)
        return { updatedCount: rows.length, servers: await render(rows.map((row) => ({ row }))) }
      },
    },
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
    async livenessHistory(agent: string, days: number, caller: Caller): Promise<LivenessHistory> {
      const { id, package_name } = await queries.stored(agent, caller)
      const { from, span } = lastDays(days)
      return { package_name, ...span, days: [...(await store.liveness.days(id, from))] }
    },
    async callHistory(agent: string, days: number, caller: Principal): Promise<CallHistory> {
      const entry = await queries.stored(agent, caller)
      const { id, package_name } = entry
      if (!mayRead(caller, entry))
        throw new Failure('forbidden', `Only its owner may read how often ${package_name} was called.`)
      await options.calls.flush()
      const { from, span } = lastDays(days)
      const found = await store.calls.days(id, from)
      return { package_name, ...span, total: sumOf(found), days: [...found] }
    },
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
    verify: (...call: Parameters<typeof verifier.verify>) => answered(verifier.verify(...call)),
    claim: (...call: Parameters<typeof verifier.claim>) => answered(verifier.claim(...call)),
    publish: (publication: Publication, caller: Caller, signal: AbortSignal) =>
      warned(settled(editor.publish(publication, caller, signal), caller), publication),
    update: (change: Change, publication: Publication, caller: Caller) =>
      warned(settled(editor.update(change, publication, caller), caller), publication),
    goLive: (change: Change, caller: Caller) =>
      settled(editor.move(change, 'STAGE', 'ACTIVE', caller), caller),
    unpublish: (change: Change, caller: Caller) =>
      settled(editor.move(change, 'ACTIVE', 'STAGE', caller), caller),
    /** An admin's transfer may hide an entry in STAGE from its caller, so the entry is not the answer. */
    async transfer(request: TransferInput, caller: Caller): Promise<TransferResult> {
      const done = await transfers.transfer(request, caller)
      await applied(done.revision)
      return done
    },
    acceptTransfer: (change: Change, caller: Caller) => settled(transfers.accept(change, caller), caller),
    listTransfers: transfers.list,
    suspend: (request: SuspensionInput, caller: Caller) =>
      settled(ownership.suspend(request, caller), caller),
    listSuspensions: ownership.listSuspensions,
    deprecate: (request: DeprecationInput, caller: Caller) => settled(deprecate(request, caller), caller),
    report: ownership.report,
    audit: ownership.audit,
    auditOfAll: ownership.auditOfAll,
    purge: createPurge({ ...options, applied }),
    ...createPersonalData({ ...options, editor, applied }),
    async remove(change: Change, caller: Caller) {
      const { revision } = await editor.remove(change, caller)
      await applied(revision)
    },
    async importLines(lines: readonly string[], first: number, caller: Caller = null) {
      const { report, revision } = await importLines(options, lines, first, caller)
      await applied(revision)
      return report
    },
  }
}
