import type { SearchHit } from '../../../schemas/card.ts'
import { discoveryOf } from '../../../schemas/discovery.ts'
import { fitting } from '../../common/fitting.ts'
import type { RankedEntry } from './brief-page.ts'

/** Makes pages of whole agents, and knows the characters of their JSON. */
export class FullPages {
  readonly #lengths = new WeakMap<object, number>()

  /** The first agents that fit into so many characters, at least one. */
  of(ranked: readonly RankedEntry[], maxCharacters: number, hasDiscovery = false): SearchHit[] {
    const shown = ranked.map(({ view, entry, reasons, alternatives }) => {
      const more = {
        ...reasons,
        ...(alternatives && { alternatives }),
        ...(hasDiscovery && { discovery: discoveryOf(entry) }),
      }
      return { found: { ...view, ...more }, characters: this.lengthOf(view) + JSON.stringify(more).length }
    })
    const page = fitting(shown, maxCharacters)
    const agents = page.map(({ found }) => found)
    this.#lengths.set(
      agents,
      page.reduce((sum, { characters }) => sum + characters, 0),
    )
    return agents
  }

  /** Characters of JSON, counted once: public views are the same objects in each answer. */
  lengthOf(part: object): number {
    const characters = this.#lengths.get(part) ?? JSON.stringify(part).length
    this.#lengths.set(part, characters)
    return characters
  }
}
