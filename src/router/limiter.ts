import type { Envelope } from '../../schemas/envelope.ts'
import { type Allowance, Failure } from '../../schemas/failure.ts'
import { packageNameOf, registryName } from '../../schemas/names.ts'
import { principalKey } from '../common/principal-key.ts'
import { Buckets, rateLimited } from './buckets.ts'
import type { Call, RouterOptions } from './call.ts'

/** The limits of each class of calls: calls a minute for an anonymous caller, and the cost units of one call. */
export const classes = {
  read: { per_minute: 600, cost: 1 },
  /** An IDE asks for each of its servers at once when it starts. */
  catalog: { per_minute: 900, cost: 1 },
  search: { per_minute: 120, cost: 10 },
  execute: { per_minute: 20, cost: 10 },
  session: { per_minute: 20, cost: 10 },
  probe: { per_minute: 6, cost: 50 },
  write: { per_minute: 6, cost: 50 },
  erase: { per_minute: 1, cost: 500 },
} as const
type Class = keyof typeof classes

/** A caller with a token has ten times the limits of an anonymous one. */
const withToken = 10

/**
 * What requests cost in units of about 0.1 ms of CPU time, in addition to the cost of their class. `npm run bench --
 * cost` measures them.
 */
export const costs = {
  /** A request over HTTP, a new WebSocket, a message of a WebSocket. */
  request: 1,
  receivedByte: 1 / 8192,
  sentByte: 1 / 8192,
  /** Of the JSON that a write answers, which for most writes is the entry: it is stored, indexed and embedded. */
  writtenByte: 1 / 256,
  /** Of a check of params by the schema of a listed agent. */
  checkMillisecond: 10,
  /** An answer that is compressed when it is sent costs this for each byte before. */
  compressedByte: 1 / 8192,
} as const

const costPerMinute = 6000
const failedTokensPerMinute = 60

/** A caller, as far as limits are concerned. */
export type LimitedCaller = Pick<Call, 'principal' | 'client'>

/**
 * Counts like `Buckets.take`, for several gateways together; errors other than `rate_limited` fall back to the local
 * limiter.
 */
type TakeShared = (
  policy: string,
  caller: string,
  limit: number,
) => Promise<Omit<Allowance, 'policy' | 'limit'>>

interface Sharing {
  readonly take: TakeShared
  readonly onError: (fault: unknown) => void
}

/**
 * The rate limits. A caller is its token's subject, else its network address; calls of a local process and of agents
 * are not counted.
 */
export class Limiter {
  readonly #buckets: Buckets
  readonly #shared: Sharing | undefined

  /** With shared counts all classes but plain reads are shared; costs are counted by each gateway. */
  constructor(clock: () => number, shared?: Sharing) {
    this.#buckets = new Buckets(clock)
    this.#shared = shared
  }

  /** Counts a call against its caller and its class, before it runs. */
  readonly admit: RouterOptions['admit'] = (envelope, call) => {
    const caller = callerOf(call)
    if (caller === undefined) return undefined
    const policy = classOf(envelope, call)
    const limit = classes[policy].per_minute * factorOf(call)
    this.charge(call, classes[policy].cost)
    return this.#shared && policy !== 'read' && policy !== 'catalog'
      ? this.#takeShared(this.#shared, policy, caller, limit)
      : this.#buckets.take(policy, caller, limit)
  }

  /** Charges for what a write has stored, by its output. */
  readonly chargeWrite: RouterOptions['chargeWrite'] = (output, call) => {
    if (isUncounted(call)) return
    this.charge(call, JSON.stringify(output).length * costs.writtenByte)
  }

  /** Charges for a check of params, whose length a publisher decides. */
  readonly chargeCheck: RouterOptions['chargeCheck'] = (milliseconds, call) => {
    this.charge(call, Math.floor(milliseconds) * costs.checkMillisecond)
  }

  /** The Failure `rate_limited` of a caller whose requests of the last minute have cost too much. */
  overCost(caller: LimitedCaller): Failure | undefined {
    const key = callerOf(caller)
    if (key === undefined) return undefined
    const limit = costPerMinute * factorOf(caller)
    const retry_after_s = this.#buckets.secondsEmpty('cost', key, limit)
    if (retry_after_s === 0) return undefined
    const failure = new Failure('rate_limited', `Your requests cost more than ${limit} units a minute.`, {
      hint: `A unit is about 0.1 ms of CPU time, or 8 KiB of answers. Ask again in ${retry_after_s} s, for less at once, or less often.`,
      retry_after_s,
    })
    return Object.assign(failure, {
      allowance: { policy: 'cost', limit, remaining: 0, reset_s: retry_after_s },
    })
  }

  /** Charges cost units to the caller, who may fall below zero: the next requests are then refused for some time. */
  charge(caller: LimitedCaller, units: number): void {
    const key = callerOf(caller)
    if (key !== undefined && units > 0) {
      this.#buckets.charge('cost', key, costPerMinute * factorOf(caller), units)
    }
  }

  /**
   * Counts the check of an unknown token until the returned function is called, which means that the token was valid.
   * Throws Failure `rate_limited` for an address that sent too many invalid ones.
   */
  countToken(client: Call['client']): () => void {
    if (client === 'local') return () => {}
    const { address } = client
    this.#buckets.take('failed_token', address, failedTokensPerMinute)
    return () => this.#buckets.charge('failed_token', address, failedTokensPerMinute, -1)
  }

  /** If the shared counts fail, each gateway counts for itself. */
  async #takeShared(
    { take, onError }: Sharing,
    policy: string,
    caller: string,
    limit: number,
  ): Promise<Allowance> {
    try {
      return { policy, limit, ...(await take(policy, caller, limit)) }
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.code === 'rate_limited') {
        const reset_s = thrown.details.retry_after_s ?? 60
        throw rateLimited({ policy, limit, remaining: 0, reset_s })
      }
      onError(thrown)
      return this.#buckets.take(policy, caller, limit)
    }
  }
}

function factorOf({ principal }: LimitedCaller): number {
  return principal && !principal.confined_to ? withToken : 1
}

/** The caller's token subject, else its network address; undefined for a local process. */
export function callerOf({ principal, client }: LimitedCaller): string | undefined {
  if (client === 'local') return undefined
  return principal && !principal.confined_to ? principalKey(principal) : client.address
}

/** Admins may write as often as they may read. */
function isUncounted({ principal }: LimitedCaller): boolean {
  return principal?.scopes.has('admin') ?? false
}

/** By the names in the envelope, before they are resolved: guessing names counts too. */
function classOf({ to, action, params }: Envelope, call: LimitedCaller): Class {
  const agent = packageNameOf(to)
  if (agent === 'svc.playground') return inPlayground.get(action) ?? 'read'
  if (agent !== registryName) return 'read'
  // Each call leaves a row that outlives deletion.
  if (action === 'create_key') return 'execute'
  if (asksOutside(action, params)) return 'probe'
  // It reads every entry and every event for the name of the person.
  if (action === 'delete_personal_data') return 'erase'
  if (writing.has(action) && !isUncounted(call)) return 'write'
  if (heavy.has(action) || params?.query !== undefined) return 'search'
  return inCatalog.has(action) ? 'catalog' : 'read'
}

const inPlayground: ReadonlyMap<string, Class> = new Map([
  ['create_session', 'session'],
  ['execute', 'execute'],
  ['discover', 'search'],
  ['get_session', 'search'],
  ['watch_session', 'search'],
  ['export_session', 'search'],
])

/** A webhook is called at once, from the first revision if requested, and its owner reads the result. */
const probing = new Set([
  'verify',
  'claim',
  'check',
  'create_webhook',
  'update_webhook',
  'add_mirror',
  'run_mirror',
  'log_in_by_domain',
  'approve_package',
  'connect_agent',
])
const heavy = new Set(['search', 'discover', 'validate', 'get_personal_data', 'get_status'])

const inCatalog = new Set(['list_servers', 'list_server_versions', 'get_server', 'validate_server'])

/** Each leaves rows that are kept for long, or rows that every process reads. */
const writing = new Set([
  'publish',
  'update',
  'go_live',
  'unpublish',
  'delete',
  'transfer',
  'deprecate',
  'suspend',
  'report',
  'set_credential',
  'delete_credential',
  'delete_key',
  'delete_webhook',
  'revoke',
  'accept_transfer',
  'purge',
  'set_quota',
  'remove_mirror',
  'publish_server',
  'set_server_status',
  'revoke_approval',
])

/** True if the action contacts name servers or sites of the caller's choice. */
function asksOutside(action: Envelope['action'], params: Envelope['params']): boolean {
  if (probing.has(action)) return true
  if (params?.manifest_url === undefined) return false
  const isTold = params.name !== undefined && params.description !== undefined
  return action === 'validate' || (action === 'publish' && !isTold)
}

/** No limits, for benchmarks. */
export const noLimits: Pick<
  Limiter,
  'admit' | 'chargeCheck' | 'chargeWrite' | 'overCost' | 'charge' | 'countToken'
> = {
  admit: () => undefined,
  chargeCheck: () => {},
  chargeWrite: () => {},
  overCost: () => undefined,
  charge: () => {},
  countToken: () => () => {},
}
