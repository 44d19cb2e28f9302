import type { Principal } from '../../schemas/scope.ts'
import type { StoredEntry } from '../store/store.ts'
import type { Finder } from './finder.ts'
import type { Site } from './site.ts'
import { renderStandardCard } from './standard-card.ts'
import { type CardSigner, signCard } from './verification/card-signature.ts'

type Card = Readonly<Record<string, unknown>>

/** Gives cards as they are asked for: the publisher's own, the interface's shape, or the standard one, signed. */
export interface Cards {
  card(agent: string, standard: boolean, caller: Principal | null): Promise<Card>
}

export interface CardsOptions {
  readonly finder: Pick<Finder, 'stored' | 'get'>
  readonly site: () => Site
  /** The key that signs now. */
  readonly signer: () => Promise<Pick<CardSigner, 'private_key' | 'kid'>>
}

export function createCards({ finder, site, signer }: CardsOptions): Cards {
  const signed = new WeakMap<StoredEntry, { readonly of: string; readonly card: Promise<Card> }>()

  /** Made once for as long as the entry, the address and the key stand. */
  async function standardCard(stored: StoredEntry): Promise<Card> {
    const [here, key] = [site(), await signer()]
    const of = `${here.base_url} ${key.kid}`
    const known = signed.get(stored)
    if (known?.of === of) return await known.card
    const jku = `${here.base_url}/.well-known/jwks.json`
    const card = signCard(renderStandardCard(stored, here), { ...key, jku }).then(
      (made): Card => Object.freeze(made),
    )
    signed.set(stored, { of, card })
    return await card
  }

  return {
    async card(agent, standard, caller) {
      if (!standard) return (await finder.get(agent, caller)).card
      const stored = await finder.stored(agent, caller)
      return stored.hosted ? await standardCard(stored) : (await finder.get(agent, caller)).card
    },
  }
}
