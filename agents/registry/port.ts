import type { EntryDetail } from '../../schemas/card.ts'
import type { ChangePage, RegistryChange } from '../../schemas/change.ts'
import type { Credential, CredentialInput } from '../../schemas/credential.ts'
import type { ApiKey, KeyInput, NewApiKey, RevocationInput, RevocationKind } from '../../schemas/identity.ts'
import type { LivenessOutcome } from '../../schemas/liveness.ts'
import type { Change, Publication } from '../../schemas/publication.ts'
import type { Principal } from '../../schemas/scope.ts'
import type { NameCompletion, SearchInput, SearchOutput } from '../../schemas/search.ts'
import type { AuditEvent, ProofRequest, VerificationOutcome } from '../../schemas/trust.ts'
import type { Validation, ValidationRequest } from '../../schemas/validation.ts'
import type { VersionPage, WantedVersion } from '../../schemas/version.ts'
import type { NewWebhook, Webhook, WebhookEdit, WebhookInput } from '../../schemas/webhook.ts'

type Caller = Principal | null

/** As A2A 1.0 has it, or with what 0.3 looks for beside it. */
export type StandardShape = '1.0' | 'any'

/** What the registry agent needs of the registry. */
export interface RegistryPort {
  search(input: SearchInput, caller: Caller, signal: AbortSignal): Promise<SearchOutput>
  /** Listed package names that begin with a prefix, in order. */
  completeName(prefix: string, limit: number): Promise<NameCompletion>
  get(agent: string, caller: Caller): Promise<EntryDetail>
  versions(agent: string, limit: number, cursor: string | undefined, caller: Caller): Promise<VersionPage>
  /** As it was in a version. Throws Failure `not_found` with versions that there are. */
  resolve(agent: string, version: WantedVersion, caller: Caller): Promise<EntryDetail>
  /**
   * The card in the interface's shape, or the standard one where there is one; `through` asks of any agent for the
   * standard card by which it is called through here.
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
  transfer(
    change: Change,
    to: { readonly subject: string; readonly issuer?: string | undefined },
    caller: Caller,
  ): Promise<{ id: string; package_name: string; revision: number }>
  verify(request: Change & ProofRequest, caller: Caller, signal: AbortSignal): Promise<VerificationOutcome>
  claim(request: Change & ProofRequest, caller: Caller, signal: AbortSignal): Promise<VerificationOutcome>
  validate(request: ValidationRequest, caller: Caller, signal: AbortSignal): Promise<Validation>
  suspend(
    request: Change & { readonly suspended: boolean; readonly reason: string },
    caller: Caller,
  ): Promise<EntryDetail>
  deprecate(
    request: Change & {
      readonly deprecated: boolean
      readonly message?: string | undefined
      readonly successor?: string | undefined
    },
    caller: Caller,
  ): Promise<EntryDetail>
  report(
    report: { readonly agent: string; readonly reason: string; readonly detail?: string | undefined },
    caller: Caller,
  ): Promise<void>
  audit(
    agent: string,
    limit: number,
    cursor: string | undefined,
    caller: Caller,
  ): Promise<{ events: AuditEvent[]; next_cursor: string | null }>
  /** Looks now whether an agent is alive. */
  check(agent: string, caller: Caller, signal: AbortSignal): Promise<LivenessOutcome>
  importLines(lines: readonly string[], first: number, caller: Caller): Promise<ImportReport>
}

/** What became of the lines of an import; a line number counts from 1. */
export interface ImportReport {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
  readonly rejected: readonly { readonly line: number; readonly reason: string }[]
}

/** What the registry agent needs of whoever keeps API keys and what has been revoked. */
export interface IdentityPort {
  createKey(request: KeyInput, caller: Principal): Promise<NewApiKey>
  /** The caller's own; an admin's list is everybody's. */
  listKeys(caller: Principal): Promise<ApiKey[]>
  deleteKey(key: string, caller: Principal): Promise<void>
  revoke(request: RevocationInput, caller: Principal): Promise<{ revoked: RevocationKind }>
}

/** What it needs of whoever tells what becomes of the registry. */
export interface Changes {
  /** Throws Failure `invalid_request` for a revision that is still to come. */
  page(since: number, limit: number): Promise<ChangePage>
  /** What came after a revision and what comes, until the signal aborts; first of all where that is nothing yet. */
  follow(
    since: number,
    who: { readonly counted_as: string | undefined; readonly has_token: boolean },
    signal: AbortSignal,
  ): AsyncIterable<{
    readonly changes: readonly RegistryChange[]
    readonly up_to: number
    readonly complete: boolean
  }>
}

/** What it needs of whoever posts changes to those who asked for that. Webhooks of others are not found. */
export interface WebhooksPort {
  /** Throws Failure `blocked_address`, `invalid_request` and `conflict`. */
  create(request: WebhookInput, caller: Principal): Promise<NewWebhook>
  list(caller: Principal): Promise<Webhook[]>
  get(id: string, caller: Principal): Promise<Webhook>
  update(id: string, edit: WebhookEdit, caller: Principal): Promise<Webhook>
  remove(id: string, caller: Principal): Promise<void>
}

/** What it needs of whoever keeps what callers show other agents. */
export interface CredentialsPort {
  /** Throws Failure `not_found`, `not_callable` and `conflict`. */
  set(request: CredentialInput, caller: Principal): Promise<Credential>
  list(caller: Principal): Promise<Credential[]>
  /** Throws Failure `not_found`. */
  remove(agent: string, caller: Principal): Promise<void>
}
