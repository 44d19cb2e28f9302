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
  /** How well the content was found, expected F1 from 0 to 1; null where all of the page is given. */
  readonly confidence: number | null
  /** Characters that are not in navigation and the like, blanks left out. */
  readonly length: number
  readonly about: About
}

/** A page that says less is given whole: there is too little to choose from. */
const fewest = 250

const probability = compile(model)

/** What of a page is its content: the blocks that the model takes for it, or the whole of a page that says little. */
export function mainContent({ head, body }: Filtered): MainContent {
  const root = parse(body)
  const page = pageOf(layoutOf(root))
  const about = aboutOf(head, root)
  const length = lengthOf(page)
  if (page.whole.chars < fewest) return { root, extractor: 'whole', confidence: null, length, about }
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

/** The page without its furniture. */
export function wholeContent({ body }: Filtered): Root {
  const page = pageOf(layoutOf(parse(body)))
  return prune(page, new Set(page.blocks.filter((block) => !isBoilerplate(block))))
}

function lengthOf({ blocks }: PageStructure): number {
  return blocks.reduce((sum, block) => (isBoilerplate(block) ? sum : sum + block.chars), 0)
}
