import { Failure } from '../../../schemas/failure.ts'
import { localIssuer } from '../../../schemas/identity.ts'
import type { Change } from '../../../schemas/publication.ts'
import type { Principal } from '../../../schemas/scope.ts'
import type {
  TransferInput,
  TransferOffer,
  TransferPage,
  TransferRange,
  TransferResult,
} from '../../../schemas/transfer.ts'
import { isSamePrincipal } from '../../common/principal-key.ts'
import type { Store } from '../../store/store.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { decodePosition, encodePosition, takePage } from '../queries/cursor.ts'
import type { Committed, Editor } from './editor.ts'
import { assertNotSuspended, coveringNamespace, isAdmin, isVisible } from './permissions.ts'
import { unlisted } from './reference.ts'

/** Transfers of entries between owners: an offer, and its acceptance by the receiver. */
interface TransferService {
  /** Offers an entry, or withdraws the offer. A transfer by an admin needs no acceptance. */
  transfer(request: TransferInput, caller: Principal | null): Promise<TransferResult>
  accept(change: Change, caller: Principal | null): Promise<Committed>
  list(range: TransferRange, caller: Principal): Promise<TransferPage>
}

/** `issuers`: those whose subjects can sign in here. */
export function createTransfers(store: Store, editor: Editor, issuers: readonly string[]): TransferService {
  const transfer: TransferService['transfer'] = async ({ subject, issuer, ...change }, caller) => {
    if (subject === null) {
      const committed = await editor.change(change, caller, { action: 'withdraw_transfer' }, withdrawn)
      return { ...committed, status: 'withdrawn' }
    }
    if (issuer !== undefined) assertKnown(issuer, issuers)
    const receiver = { issuer: issuer ?? caller?.issuer ?? localIssuer, subject }
    if (isAdmin(caller)) {
      const committed = await editor.change(change, caller, { action: 'transfer' }, (entry, _, at) => {
        assertNotSuspended(entry)
        return givenTo(entry, { ...receiver, namespace: null }, at)
      })
      return { ...committed, status: 'transferred' }
    }
    const committed = await editor.change(change, caller, { action: 'offer_transfer' }, (entry, _, at) => {
      assertNotSuspended(entry)
      assertAnother(entry, receiver)
      return { ...entry, offer: { ...receiver, at } }
    })
    return { ...committed, status: 'offered' }
  }

  const accept: TransferService['accept'] = (change, caller) =>
    editor.change(
      change,
      caller,
      { action: 'accept_transfer' },
      (entry, { issuer, subject, namespaces }, at) => {
        const namespace = coveringNamespace({ namespaces }, entry.package_name)
        return givenTo(entry, { issuer, subject, namespace }, at)
      },
      assertMayAccept,
    )

  const list: TransferService['list'] = async ({ made, limit, cursor }, caller) => {
    const { issuer, subject } = caller
    const question = ['transfers', made, issuer, subject]
    const after = cursor === undefined ? undefined : decodePosition(cursor, question).id
    const found = await store.read.offers(made ? 'made' : 'received', { issuer, subject }, limit + 1, after)
    const { page, last } = takePage(found, limit)
    const next = last ? encodePosition({ key: 'id', id: last.id }, question) : null
    return { offers: page.flatMap((entry) => offerOf(entry, made)), next_cursor: next }
  }

  return { transfer, accept, list }
}

/** Nobody could accept an offer to a subject of an issuer whose tokens this gateway refuses. */
function assertKnown(issuer: string, issuers: readonly string[]): void {
  if (issuers.includes(issuer)) return
  const detail = 'This gateway takes no tokens of that issuer.'
  throw new Failure('invalid_request', `/issuer: ${detail}`, {
    errors: [{ pointer: '/issuer', detail }],
    hint: `Its issuers: ${issuers.join(', ')}. Without an issuer, the receiver has the same one as you.`,
  })
}

/** Throws Failure `wrong_state` without an offer. */
function withdrawn(entry: StoredEntry): StoredEntry {
  if (entry.offer) return { ...entry, offer: null }
  throw new Failure('wrong_state', `${entry.package_name} is offered to nobody.`)
}

function assertAnother(
  { package_name, owner }: StoredEntry,
  receiver: { issuer: string; subject: string },
): void {
  if (owner === null || !isSamePrincipal(owner, receiver)) return
  throw new Failure('wrong_state', `${package_name} belongs to ${receiver.subject} already.`)
}

/**
 * Throws Failure `not_found` for an entry that the caller may not know of, `wrong_state` without an offer to the caller,
 * `suspended` without the reason, which only the owner reads.
 */
function assertMayAccept(
  principal: Principal | null,
  entry: StoredEntry | undefined,
  agent: string,
): asserts entry is StoredEntry {
  const isReceiver = entry?.offer && !entry.deleted && principal && isSamePrincipal(entry.offer, principal)
  if (!entry || !(isReceiver || isVisible(entry, principal))) {
    throw unlisted(agent)
  }
  const { package_name, suspended } = entry
  if (!isReceiver) {
    throw new Failure('wrong_state', `${package_name} is not offered to you.`, {
      hint: 'Its owner offers it by transfer; list_transfers lists the offers to you.',
    })
  }
  if (suspended) throw new Failure('suspended', `${package_name} is suspended.`)
}

/** A proof belongs to its owner: the proof and the status of the signature do not pass to the next owner. */
function givenTo(entry: StoredEntry, owner: StoredEntry['owner'], at: string): StoredEntry {
  const check_at = entry.manifest_url === null ? null : at
  const unproved = { verification_level: 'unverified', proof: null, signature: null } as const
  return { ...entry, ...unproved, owner, taken_from: null, offer: null, check_at }
}

/** A suspended entry is hidden from the receiver until the suspension is lifted. */
function offerOf(entry: StoredEntry, made: boolean): TransferOffer[] {
  const { id, package_name, name, description, state, owner, offer, suspended } = entry
  if (!offer || (suspended && !made)) return []
  const { at: offered_at, ...to } = offer
  const from = owner && { issuer: owner.issuer, subject: owner.subject }
  return [{ id, package_name, name, description, state, from, to, offered_at }]
}
