import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type {
  Approval,
  ApprovalInput,
  ApprovalStore,
  ApprovedPackage,
  ApprovedValue,
} from '../../../schemas/approval.ts'
import type { EntryDetail } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import type { NamedInput } from '../../../schemas/package.ts'
import type { Principal } from '../../../schemas/scope.ts'
import { Actor } from '../../../schemas/trust.ts'
import { type Clock, monotonic } from '../../common/clock.ts'
import type { Eventual } from '../../common/eventual.ts'
import { upTo } from '../../common/lru.ts'
import type { ResolvedPackage } from '../../runner/runner.ts'
import type { Store } from '../../store/store.ts'
import { type Demand, demandOf, differenceOf, isNamed, type Pinned, pinnedOf } from './demand.ts'

/** The scope of the approvals that serve every caller; also the owner of their secrets. */
export const operatorScope = 'operator'

/** What an approval pins, as it is stored: no secret is in it. */
const Document = z.object({
  pinned: z.custom<Pinned>(),
  resolved: z.custom<ResolvedPackage>(),
  lock: z.string(),
  scripts: z.boolean(),
  hosts: z.array(z.string()),
  chosen: z.object({ variables: z.array(z.string()), arguments: z.array(z.string()) }),
  /** By part and name, as `valueKey` makes them. */
  values: z.record(z.string(), z.string()),
  more_arguments: z.array(z.string()),
  approved_by: Actor,
})
type Document = z.infer<typeof Document>

/** An approval as processes are started by it. */
export interface ActiveApproval extends Document {
  readonly id: string
  readonly scope: string
  readonly entry_id: string
  readonly approved_at: string
}

/** What an admin gives, matched with what the package wants. */
export interface Prepared {
  readonly demand: Demand
  readonly chosen: Document['chosen']
  /** Without secrets. */
  readonly values: Readonly<Record<string, string>>
  /** By name. */
  readonly secrets: ReadonlyMap<string, string>
}

/** Milliseconds for which another process may still use a revoked approval. */
const maxStale_ms = 2_000
const maxCached = 10_000
const maxHosts = 50

/** The approvals of packages: of the operator, for all callers, and of persons, for themselves. */
export class Approvals {
  readonly #store: Pick<Store, 'approvals'>
  readonly #clock: Clock
  /** A clock that is set back must not lengthen the life of a revoked approval. */
  readonly #cacheClock: Clock
  readonly #cache = new LRUCache<
    string,
    { readonly until: number; readonly approval: ActiveApproval | undefined }
  >(upTo(maxCached))
  /** Counts the changes by this process: what was read before one of them is not cached. */
  #changes = 0
  readonly #differences = new WeakMap<ActiveApproval, { entry: EntryDetail; difference: string | null }>()

  constructor(store: Pick<Store, 'approvals'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#cacheClock = monotonic(clock)
  }

  find(scope: string, entryId: string): Eventual<ActiveApproval | undefined> {
    const cached = this.#cache.get(cacheKey(scope, entryId))
    return cached && cached.until > this.#cacheClock() ? cached.approval : this.findNow(scope, entryId)
  }

  /** As the database has it, whichever process changed it. */
  async findNow(scope: string, entryId: string): Promise<ActiveApproval | undefined> {
    const key = cacheKey(scope, entryId)
    const changes = this.#changes
    const row = await this.#store.approvals.find(scope, entryId)
    const approval = row && activeOf(row)
    if (changes === this.#changes) this.#cache.set(key, { until: this.#cacheClock() + maxStale_ms, approval })
    return approval
  }

  async list(...call: Parameters<ApprovalStore['list']>): Promise<readonly ActiveApproval[]> {
    return (await this.#store.approvals.list(...call)).map(activeOf)
  }

  /** A new approval of the same package keeps the id, and with it the HOME of its processes. */
  async put(
    place: Pick<ActiveApproval, 'scope' | 'entry_id'>,
    document: Document,
    createId: () => string,
  ): Promise<ActiveApproval> {
    const row = await this.#store.approvals.find(place.scope, place.entry_id)
    const before = row && activeOf(row)
    const isSame =
      before?.pinned.registry_type === document.pinned.registry_type &&
      before.pinned.identifier === document.pinned.identifier
    const approved_at = new Date(this.#clock()).toISOString()
    const approval = { ...place, ...document, id: isSame ? before.id : createId(), approved_at }
    await this.#store.approvals.put({
      ...place,
      id: approval.id,
      document: JSON.stringify(document),
      created_at: approved_at,
    })
    this.#forget(place.scope, place.entry_id)
    return approval
  }

  async remove(scope: string, entryId: string): Promise<boolean> {
    const isRemoved = await this.#store.approvals.remove(scope, entryId)
    this.#forget(scope, entryId)
    return isRemoved
  }

  #forget(scope: string, entryId: string): void {
    this.#changes++
    this.#cache.delete(cacheKey(scope, entryId))
  }

  /** What the entry states otherwise than was approved, for people; null if nothing. */
  difference(approval: ActiveApproval, entry: EntryDetail): string | null {
    const cached = this.#differences.get(approval)
    if (cached?.entry === entry) return cached.difference
    const difference = differenceNow(approval, entry)
    this.#differences.set(approval, { entry, difference })
    return difference
  }
}

function cacheKey(scope: string, entryId: string): string {
  return `${entryId} ${scope}`
}

function activeOf(row: {
  readonly id: string
  readonly scope: string
  readonly entry_id: string
  readonly document: string
  readonly created_at: string
}): ActiveApproval {
  const { id, scope, entry_id, created_at: approved_at } = row
  return { ...Document.parse(JSON.parse(row.document)), id, scope, entry_id, approved_at }
}

function differenceNow(approval: ActiveApproval, entry: EntryDetail): string | null {
  try {
    return differenceOf(approval.pinned, pinnedOf(demandOfApproval(approval, entry)))
  } catch (thrown) {
    return Failure.from(thrown).message
  }
}

/** What the package of an entry wants, with the values that the approved package itself asks for. */
export function demandOfApproval({ chosen, resolved }: ActiveApproval, entry: EntryDetail): Demand {
  return demandOf(entry, chosen, resolved.inputs)
}

export function valueKey({ part, name }: Pick<ApprovedValue, 'part' | 'name'>): string {
  return `${part} ${name}`
}

/** `inputs` as in `demandOf`. Throws Failure `invalid_request`, `not_callable` and `not_installable`. */
export function prepare(entry: EntryDetail, input: ApprovalInput, inputs?: readonly NamedInput[]): Prepared {
  const chosen = { variables: Object.keys(input.variables), arguments: Object.keys(input.arguments) }
  const demand = demandOf(entry, chosen, inputs)
  if (input.hosts.length > maxHosts) throw Failure.invalidField('/hosts', `At most ${maxHosts} hosts.`)
  const secrets = new Map<string, string>()
  const values: Record<string, string> = {}
  for (const need of demand.needs) {
    const part = need.part === 'argument' ? 'argument' : 'environment'
    const value = valueIn(input, part, need.name) ?? (need.secret ? undefined : need.default)
    if (value === undefined) continue
    const pointer = `/${part === 'argument' ? 'arguments' : 'variables'}/${need.name}`
    checkText(value, pointer)
    if (need.choices && !need.choices.includes(value)) {
      throw Failure.invalidField(pointer, `This must be one of ${need.choices.join(', ')}.`)
    }
    if (need.secret) secrets.set(need.name, value)
    else values[valueKey({ part, name: need.name })] = value
  }
  for (const [index, text] of input.more_arguments.entries()) checkText(text, `/more_arguments/${index}`)
  return { demand, chosen, values, secrets }
}

function valueIn(input: ApprovalInput, part: ApprovedValue['part'], name: string): string | undefined {
  if (part === 'environment') return Object.hasOwn(input.variables, name) ? input.variables[name] : undefined
  return Object.entries(input.arguments).find(([chosen]) => isNamed(name, chosen))?.[1]
}

/** A process takes any text but one with a zero character. */
function checkText(text: string, pointer: string): void {
  if (text.includes('\0')) throw Failure.invalidField(pointer, 'A zero character cannot stand in a value.')
}

/** What was approved, without secrets. */
export function shownPackage(
  {
    pinned,
    resolved,
    hosts,
    scripts,
    values,
    more_arguments,
  }: Omit<Document, 'lock' | 'chosen' | 'approved_by'>,
  lock: string | null,
): ApprovedPackage {
  return {
    registry_type: pinned.registry_type,
    identifier: pinned.identifier,
    version: resolved.source.version,
    integrity: resolved.integrity,
    lock,
    arguments: [...pinned.arguments, ...more_arguments],
    variables: Object.fromEntries(
      Object.entries(pinned.variables).filter(([name, text]) => text !== `\${${name}}`),
    ),
    values: pinned.values.map((value) => ({ ...value, value: values[valueKey(value)] ?? null })),
    hosts: [...hosts],
    scripts,
  }
}

export function shownApproval(approval: ActiveApproval, agent: string, difference: string | null): Approval {
  const { lock, scope, approved_by, approved_at } = approval
  const callers = scope === operatorScope ? 'all' : 'own'
  return { agent, package: shownPackage(approval, lock), approved_by, approved_at, callers, difference }
}

export function actorOf(caller: Principal): Actor {
  return { issuer: caller.issuer, subject: caller.subject }
}
