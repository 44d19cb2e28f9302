import type { Access, Agent } from '../../../schemas/action.ts'
import type { StandardShape } from '../../../schemas/card.ts'
import { Failure } from '../../../schemas/failure.ts'
import { holds, type Principal } from '../../../schemas/scope.ts'
import type { Site } from '../../../schemas/site.ts'
import type { StoredEntry } from '../../store/stored-entry.ts'
import { capabilityOf } from '../entry/hosted.ts'
import type { SearchService } from '../queries/search-service.ts'
import { type CardSigner, signCard } from '../verification/card-signature.ts'
import { renderStandardCard } from './standard-card.ts'

type Card = Readonly<Record<string, unknown>>

/** Cards in the requested form: the publisher's own, the registry's own form, or the standard one, signed. */
interface Cards {
  /**
   * `interface`: in the registry's own form. `through`: the standard card for calls through this gateway, instead of the publisher's own card.
   */
  card(
    agent: string,
    shape: StandardShape | 'interface',
    caller: Principal | null,
    through: boolean,
  ): Promise<Card>
  /** The standard card of a hosted agent, with every action that this caller may call. Throws Failure `not_found`, and `not_callable` for a listed agent. */
  extendedCard(agent: string, shape: StandardShape, caller: Principal): Promise<Card>
}

export interface CardsOptions {
  readonly queries: Pick<SearchService, 'stored' | 'get'>
  readonly site: () => Site
  /** The hosted agents. */
  readonly agents: () => readonly Agent[]
  /** The current signing key. */
  readonly signer: () => Promise<Pick<CardSigner, 'private_key' | 'kid'>>
}

export function createCards({ queries, site, agents, signer }: CardsOptions): Cards {
  const createCardCache = () =>
    new WeakMap<StoredEntry, { readonly of: string; readonly card: Promise<Card> }>()
  const signed = { '1.0': createCardCache(), any: createCardCache() }

  type Key = Awaited<ReturnType<typeof signer>>

  async function sign(stored: StoredEntry, shape: StandardShape, here: Site, key: Key): Promise<Card> {
    const jku = `${here.base_url}/.well-known/jwks.json`
    return Object.freeze(await signCard(renderStandardCard(stored, here, shape), { ...key, jku }))
  }

  /** Cached until the entry, the address or the key changes. */
  async function standardCard(stored: StoredEntry, shape: StandardShape): Promise<Card> {
    const [here, key] = [site(), await signer()]
    const of = `${here.base_url} ${key.kid}`
    const cached = signed[shape].get(stored)
    if (cached?.of === of) return await cached.card
    const card = sign(stored, shape, here, key)
    signed[shape].set(stored, { of, card })
    return await card
  }

  return {
    async card(agent, shape, caller, through) {
      if (shape === 'interface') return (await queries.get(agent, caller)).card
      const stored = await queries.stored(agent, caller)
      return stored.hosted || through
        ? await standardCard(stored, shape)
        : (await queries.get(agent, caller)).card
    },
    async extendedCard(agent, shape, caller) {
      const stored = await queries.stored(agent, caller)
      const hosted = agents().find(({ package_name }) => package_name === stored.package_name)
      if (!hosted) {
        throw new Failure('not_callable', `${agent} has no extended card: it is not hosted here.`, {
          hint: 'Its card lists what it can do.',
        })
      }
      const capabilities = hosted.actions.filter(({ access }) => permits(access, caller)).map(capabilityOf)
      return await sign({ ...stored, capabilities }, shape, site(), await signer())
    },
  }
}

function permits(access: Access, caller: Principal): boolean {
  return access === 'public' || access === 'bearer' || holds(caller, access.scope)
}
