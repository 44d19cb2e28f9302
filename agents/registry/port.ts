import type { ApprovalInput, ApprovalList, ApprovalRange, ApprovalReport } from '../../schemas/approval.ts'
import type { AuditPage, AuditRange, RegistryEventPage, RegistryEventRange } from '../../schemas/audit.ts'
import type { CallHistory } from '../../schemas/calls.ts'
import type { EntryDetail, StandardShape } from '../../schemas/card.ts'
import type { ChangePage, RegistryChange } from '../../schemas/change.ts'
import type { Credential, CredentialInput, SignInAddress } from '../../schemas/credential.ts'
import type { DeprecationInput } from '../../schemas/deprecation.ts'
import type { FederationMode } from '../../schemas/federation.ts'
import type { ApiKey, KeyInput, NewApiKey, RevocationInput, RevocationKind } from '../../schemas/identity.ts'
import type { HostId, InstallConfig } from '../../schemas/install.ts'
import type { LivenessHistory, LivenessOutcome } from '../../schemas/liveness.ts'
import type { Mirror, MirrorInput } from '../../schemas/mirror.ts'
import type { PurgeInput, ReportInput } from '../../schemas/moderation.ts'
import type {
  DeletedPersonalData,
  PersonalDataDeletion,
  PersonalDataPage,
  PersonalDataRange,
} from '../../schemas/personal-data.ts'
import type { Change, ImportReport, Publication } from '../../schemas/publication.ts'
import type { AgentIcon, Readme } from '../../schemas/publisher-file.ts'
import type { QuotaInput, QuotaPage, QuotaRange, Usage, UsageInput } from '../../schemas/quota.ts'
import type { Principal } from '../../schemas/scope.ts'
import type {
  AgentPage,
  AnyAgentPage,
  BriefAgentPage,
  NameCompletion,
  SearchQuery,
  Suggestions,
} from '../../schemas/search.ts'
import type {
  AnyServer,
  ChangedServers,
  DomainLogin,
  ListedServer,
  ListServersInput,
  RegistryToken,
  ServerPage,
  ServerStatusInput,
  ServerValidation,
} from '../../schemas/server.ts'
import type { Status } from '../../schemas/status.ts'
import type { SuspensionInput, SuspensionPage, SuspensionRange } from '../../schemas/suspension.ts'
import type { TransferInput, TransferPage, TransferRange, TransferResult } from '../../schemas/transfer.ts'
import type { ProofRequest, VerificationOutcome } from '../../schemas/trust.ts'
import type { Validation, ValidationRequest } from '../../schemas/validation.ts'
import type { VersionDiff, VersionPage, WantedVersion } from '../../schemas/version.ts'
import type { NewWebhook, Webhook, WebhookEdit, WebhookInput } from '../../schemas/webhook.ts'
import type { UpstreamCall } from '../../src/common/upstream.ts'

type Caller = Principal | null

/** All that the registry agent uses. */
export interface RegistryPorts {
  readonly registry: RegistryPort
  readonly identity: IdentityPort
  readonly credentials: CredentialsPort
  /**
   * Where the caller signs in to a listed agent. Throws Failure `not_found`, `not_callable`, `wrong_state` for an agent
   * that asks for no sign-in, and `upstream_…`.
   */
  readonly connect: (agent: string, caller: Principal, signal: AbortSignal) => Promise<SignInAddress>
  readonly changes: Changes
  readonly webhooks: WebhooksPort
  readonly quotas: QuotasPort
  readonly mirrors: MirrorsPort
  readonly logins: DomainLogins
  readonly packages: PackagesPort
  readonly status: StatusPort
}

/** The parts of the registry that the registry agent uses. */
export interface RegistryPort {
  readonly servers: ServersPort
  search(input: SearchQuery, caller: Caller, signal: AbortSignal): Promise<AgentPage>
  /** Counts a query that found too little, where the operator wants to know. */
  noteUnmet(query: string, caller: string, found: 'nothing' | 'little'): void
  /** The same search in the form for language models. */
  searchBrief(
    input: SearchQuery,
    caller: Caller,
    signal: AbortSignal,
    approved: ReadonlySet<string>,
  ): Promise<BriefAgentPage>
  /** Adds what other registries find; `find` searches this registry for at most so many agents. */
  federate(
    input: SearchQuery,
    mode: FederationMode,
    find: (limit: number) => Promise<AnyAgentPage>,
    signal: AbortSignal,
  ): Promise<AnyAgentPage>
  /** Listed package names that begin with a prefix and are behind a name, in order. */
  completeName(prefix: string, limit: number, after?: string): Promise<NameCompletion>
  /** Listed agents whose name or package name has a text, the best first, each name once. */
  suggest(text: string, limit: number): Promise<Suggestions>
  get(agent: string, caller: Caller): Promise<EntryDetail>
  /** The entries with whether the caller has stored a credential, where the agent asks for one. */
  markCredentials(entries: readonly EntryDetail[], caller: Caller): Promise<readonly EntryDetail[]>
  versions(
    agent: string,
    limit: number,
    cursor: string | undefined,
    caller: Caller,
    changes: boolean,
  ): Promise<VersionPage>
  /** The fields of the card that differ between two versions, or a version and the current one. Throws as `resolve` does. */
  diffVersions(agent: string, from: string, to: string | undefined, caller: Caller): Promise<VersionDiff>
  /** The calls of an agent on each of the last days, for its owner and admins. */
  callHistory(agent: string, days: number, caller: Principal): Promise<CallHistory>
  /** The liveness of an agent on each of the last days. */
  livenessHistory(agent: string, days: number, caller: Caller): Promise<LivenessHistory>
  /** The README that its publisher wrote. Throws Failure `not_found`, `not_configured`, and the errors of the request. */
  readme(agent: string, caller: Caller, call: UpstreamCall): Promise<Readme>
  /** The icon, drawn anew. Throws as `readme` does. */
  icon(agent: string, caller: Caller, call: UpstreamCall): Promise<AgentIcon>
  /** The entry as it was in a version. Throws Failure `not_found` with the versions that exist. */
  resolve(agent: string, version: WantedVersion, caller: Caller): Promise<EntryDetail>
  /**
   * How to install an agent. Throws Failure `not_installable` if nothing of it can be installed, and `invalid_request`
   * for a target that it lacks.
   */
  installConfig(
    agent: string,
    query: { readonly host?: HostId | undefined; readonly target?: string | undefined },
    caller: Caller,
  ): Promise<InstallConfig>
  /**
   * The card in the registry's own form, or the standard card if there is one; `through` requests, for any agent, the
   * standard card for calling it through this gateway.
   */
  card(
    agent: string,
    shape: StandardShape | 'interface',
    caller: Caller,
    through: boolean,
  ): Promise<Readonly<Record<string, unknown>>>
  /** The standard card of a hosted agent with every action that this caller may call. */
  extendedCard(
    agent: string,
    shape: StandardShape,
    caller: Principal,
  ): Promise<Readonly<Record<string, unknown>>>
  publish(publication: Publication, caller: Caller, signal: AbortSignal): Promise<EntryDetail>
  update(change: Change, publication: Publication, caller: Caller): Promise<EntryDetail>
  goLive(change: Change, caller: Caller): Promise<EntryDetail>
  unpublish(change: Change, caller: Caller): Promise<EntryDetail>
  remove(change: Change, caller: Caller): Promise<void>
  transfer(request: TransferInput, caller: Caller): Promise<TransferResult>
  acceptTransfer(change: Change, caller: Caller): Promise<EntryDetail>
  listTransfers(range: TransferRange, caller: Principal): Promise<TransferPage>
  verify(request: Change & ProofRequest, caller: Caller, signal: AbortSignal): Promise<VerificationOutcome>
  claim(request: Change & ProofRequest, caller: Caller, signal: AbortSignal): Promise<VerificationOutcome>
  validate(request: ValidationRequest, caller: Caller, signal: AbortSignal): Promise<Validation>
  suspend(request: SuspensionInput, caller: Caller): Promise<EntryDetail>
  listSuspensions(range: SuspensionRange): Promise<SuspensionPage>
  deprecate(request: DeprecationInput, caller: Caller): Promise<EntryDetail>
  report(request: ReportInput, caller: Caller): Promise<void>
  audit(range: AuditRange, caller: Caller): Promise<AuditPage>
  /** The audit log of all agents. */
  auditOfAll(range: RegistryEventRange): Promise<RegistryEventPage>
  /** Removes an entry from every table, index and snapshot. */
  purge(request: PurgeInput, caller: Caller): Promise<{ id: string }>
  personalData(range: PersonalDataRange, caller: Principal): Promise<PersonalDataPage>
  deletePersonalData(request: PersonalDataDeletion, caller: Principal): Promise<DeletedPersonalData>
  /** Probes an agent now. */
  check(agent: string, caller: Caller, signal: AbortSignal): Promise<LivenessOutcome>
  importLines(lines: readonly string[], first: number, caller: Caller): Promise<ImportReport>
}

/** The agents as the API of the MCP registry lists them. */
export interface ServersPort {
  /** Throws Failure `invalid_request` for a cursor that is none, and for filters that exclude each other. */
  list(query: ListServersInput, signal: AbortSignal): Promise<ServerPage>
  /** Throws Failure `not_found`. */
  versions(name: string, includeDeleted: boolean): Promise<ServerPage>
  /** Throws Failure `not_found`. */
  get(name: string, version: string, includeDeleted: boolean): Promise<ListedServer>
  validate(document: AnyServer): ServerValidation
  /** Throws as `publish` and `goLive` do, and Failure `conflict` for a version that exists. */
  publish(document: AnyServer, caller: Principal): Promise<ListedServer>
  /** Throws Failure `not_found`, `forbidden`, and `wrong_state` if nothing would change. */
  setStatus(input: ServerStatusInput, caller: Principal): Promise<ChangedServers>
}

/** Short tokens for who signs with the key in the record of a domain. */
export interface DomainLogins {
  /** Throws Failure `unauthenticated`, `invalid_request` and `not_configured`. */
  logIn(login: DomainLogin, signal: AbortSignal): Promise<RegistryToken>
}

/** The packages that this gateway may run. */
export interface PackagesPort {
  /** Throws Failure `not_configured` without a sandbox, and `precondition_failed` for another digest. */
  approve(
    input: ApprovalInput,
    caller: Principal,
    signal: AbortSignal,
    progress: (message: string) => void,
  ): Promise<ApprovalReport>
  /** In a fixed order. */
  list(range: ApprovalRange, caller: Principal): Promise<ApprovalList>
  /** Throws Failure `not_found`. */
  revoke(agent: string, caller: Principal): Promise<void>
  /** Names of the agents whose packages the operator has approved as they are now. */
  approved(): Promise<ReadonlySet<string>>
}

/** What owners use, and their limits. */
export interface QuotasPort {
  /** Throws Failure `forbidden` for a caller other than an admin who asks for another account. */
  usage(request: UsageInput, caller: Principal): Promise<Usage>
  /** The accounts that use something, the largest share of a quota first. */
  rank(range: QuotaRange): Promise<QuotaPage>
  setQuota(request: QuotaInput, caller: Principal): Promise<Usage>
}

/** API keys and revocations. */
export interface IdentityPort {
  createKey(request: KeyInput, caller: Principal): Promise<NewApiKey>
  /** The caller's own keys; for an admin all keys. */
  listKeys(caller: Principal): Promise<ApiKey[]>
  deleteKey(key: string, caller: Principal): Promise<void>
  revoke(request: RevocationInput, caller: Principal): Promise<{ revoked: RevocationKind }>
}

/** The change feed of the registry. */
export interface Changes {
  /** Throws Failure `invalid_request` for a revision that does not exist yet. */
  page(since: number, limit: number, agent?: string): Promise<ChangePage>
  /**
   * The changes after a revision and all new ones, until the signal aborts. If there are no changes yet, an empty page
   * comes first.
   */
  follow(
    since: number,
    who: { readonly counted_as: string | undefined; readonly has_token: boolean },
    signal: AbortSignal,
    agent?: string,
  ): AsyncIterable<{
    readonly changes: readonly RegistryChange[]
    readonly up_to: number
    readonly complete: boolean
  }>
}

/** Webhooks that receive changes. Webhooks of other owners are not found. */
export interface WebhooksPort {
  /** Throws Failure `blocked_address`, `invalid_request` and `conflict`. */
  create(request: WebhookInput, caller: Principal): Promise<NewWebhook>
  list(caller: Principal): Promise<Webhook[]>
  get(id: string, caller: Principal): Promise<Webhook>
  update(id: string, edit: WebhookEdit, caller: Principal): Promise<Webhook>
  remove(id: string, caller: Principal): Promise<void>
}

/** Credentials of callers for listed agents. */
export interface CredentialsPort {
  /** Throws Failure `not_found`, `not_callable` and `conflict`. */
  set(request: CredentialInput, caller: Principal): Promise<Credential>
  list(caller: Principal): Promise<Credential[]>
  /** Throws Failure `not_found`. */
  remove(agent: string, caller: Principal): Promise<void>
}

/** The state of this gateway. */
export interface StatusPort {
  /** What everybody may know, and more for an admin. */
  read(caller: Caller, signal: AbortSignal): Promise<Status>
}

/** Other registries and lists whose agents are listed here. */
export interface MirrorsPort {
  /** Throws Failure `invalid_request`, `conflict` and `upstream_…`. */
  add(request: MirrorInput, signal: AbortSignal): Promise<Mirror>
  list(): Promise<readonly Mirror[]>
  /** Resolves when a run has begun. Throws Failure `not_found` and `conflict`. */
  start(name: string): Promise<Mirror>
  remove(name: string): Promise<{ removed: number; left: number }>
}
