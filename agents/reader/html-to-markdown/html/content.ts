import type { Root } from 'hast'
import { layoutOf } from '../blocks/blocks.ts'
import { choose, isBoilerplate } from '../blocks/choose.ts'
import { featuresOf } from '../blocks/features.ts'
import model from '../blocks/model.json' with { type: 'json' }
import { compile } from '../blocks/model.ts'
import { type PageStructure, pageOf } from '../blocks/page.ts'
import { prune } from '../blocks/prune.ts'
import { type About, aboutOf } from './about.ts'
import { parse } from './parse.ts'
import type { Filtered } from './prefilter.ts'

export interface MainContent {
  readonly root: Root
  readonly extractor: 'blocks' | 'whole'
  /** Expected F1 of the chosen blocks, from 0 to 1; null for the whole page. */
  readonly confidence: number | null
  /** Characters outside of navigation and other boilerplate, without white space. */
  readonly length: number
  readonly about: About
}

/** A page with fewer characters is returned whole, since there is too little to choose from. */
const minCharacters = 250

const probability = compile(model)

/** The main content of a page: the blocks that the model chooses, or the whole of a short page. */
export function mainContent({ head, body }: Filtered): MainContent {
  const root = parse(body)
  const page = pageOf(layoutOf(root))
  const about = aboutOf(head, root)
  const length = lengthOf(page)
  if (page.whole.chars < minCharacters) return { root, extractor: 'whole', confidence: null, length, about }
  const probabilities = featuresOf(page).map((row) =>
    probability(Float32Array.from(row, ([, value]) => value)),
  )
  const { chosen, confidence } = choose(page, probabilities, {
    title: about.title ?? '',
    stated: about.stated ?? '',
    is_article: about.is_article,
  })
  return {
    root: prune(page, chosen),
    extractor: 'blocks',
    confidence: Math.round(confidence * 100) / 100,
    length,
    about,
  }
}

/** The page without its boilerplate. */
export function wholeContent({ body }: Filtered): Root {
  const page = pageOf(layoutOf(parse(body)))
  return prune(page, new Set(page.blocks.filter((block) => !isBoilerplate(block))))
}

function lengthOf({ blocks }: PageStructure): number {
  return blocks.reduce((sum, block) => (isBoilerplate(block) ? sum : sum + block.chars), 0)
}
