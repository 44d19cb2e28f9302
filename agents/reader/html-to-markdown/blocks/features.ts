import { type Block, type Container, isProse, levelOf, type NameMatch } from './blocks.ts'
import { boilerplateHeading, boilerplateText } from './names.ts'
import { type Feature, lineageOf, none, type PageStructure, share, upward } from './page.ts'

/** Running sums from block to block. */
interface Course {
  chars: number
  prose: number
  since_heading: number
  heading_level: number
  heading_leads_away: boolean
}

/** The features of each block of a page, by name; the input of the model. */
export function featuresOf(page: PageStructure): Feature[][] {
  const { blocks } = page
  const course: Course = { chars: 0, prose: 0, since_heading: 0, heading_level: 0, heading_leads_away: false }
  return blocks.map((block, index) => {
    advance(course, block)
    return [
      ...ofText(block),
      ...ofContainer(block.container),
      ...ofPosition(index, course, page),
      ...ofSurroundings(block.container, page),
      ...ofRepetition(block, page),
      ...ofMain(block.container, page),
      ...ofBody(block.container, index, page),
      ...ofCards(block.container, page),
      ...ofNeighbours(index, page),
      ...page.facts,
    ]
  })
}

function advance(course: Course, block: Block): void {
  const level = levelOf(block.container)
  course.chars += block.chars
  if (isProse(block)) course.prose += block.chars
  course.since_heading = level > 0 ? 0 : course.since_heading + 1
  if (level === 0) return
  course.heading_level = level
  course.heading_leads_away = block.text.length < 60 && boilerplateHeading.test(block.text)
}

function ofText({ text, chars, linked, sentences }: Block): Feature[] {
  const isBoilerplate = boilerplateText.test(text)
  return [
    ['chars', Math.log1p(chars)],
    ['words', Math.min(500, text.split(' ').length)],
    ['linked', share(linked, chars)],
    ['ends', Number(/[.!?。！？؟।:;…”"')]$/.test(text))],
    ['sentences', Math.min(50, sentences)],
    ['digits', share(text.match(/\d/g)?.length ?? 0, chars)],
    ['capitals', share(text.match(/\p{Lu}/gu)?.length ?? 0, chars)],
    ['says_furniture', isBoilerplate ? (text.length < 60 ? 2 : 1) : 0],
  ]
}

function ofContainer(container: Container): Feature[] {
  const within = (...tags: string[]) => Number(tags.some((tag) => container.within.has(tag)))
  const away = ({ depth }: NameMatch) => (depth === -1 ? 99 : Math.min(30, container.depth - depth))
  return [
    ['paragraph', Number(container.tag === 'p')],
    ['level', levelOf(container)],
    ['in_item', within('li')],
    ['in_cell', within('td', 'th')],
    ['in_code', within('pre')],
    ['in_term', within('dt', 'dd')],
    ['in_figure', within('figure', 'figcaption')],
    ['in_main', within('main')],
    ['in_article', within('article')],
    ['in_nav', within('nav')],
    ['in_header', within('header')],
    ['in_footer', within('footer')],
    ['in_aside', within('aside')],
    ['in_role', Number(container.has_boilerplate_role)],
    ['depth', container.depth],
    ['furniture_away', away(container.boilerplate)],
    ['content_away', away(container.content)],
    ['comment_away', away(container.comment)],
    ['meta_away', away(container.meta)],
    ['furniture_around', container.boilerplate.count],
    ['content_around', container.content.count],
    ['in_link', Number(container.is_linked)],
  ]
}

function ofPosition(index: number, course: Course, page: PageStructure): Feature[] {
  return [
    ['position', index / page.blocks.length],
    ['chars_so_far', share(course.chars, page.whole.chars)],
    ['prose_so_far', share(course.prose, page.whole.prose)],
    ['after_headline', page.heading === -1 ? 999 : between(-200, index - page.heading, 500)],
    ['after_last_sentence', between(-100, index - page.last_sentence, 100)],
    ['since_heading', Math.min(200, course.since_heading)],
    ['heading_level', course.heading_level],
    ['heading_leads_away', Number(course.heading_leads_away)],
  ]
}

function ofSurroundings(container: Container, { whole }: PageStructure): Feature[] {
  const [own, parent, grandparent] = [container, container.parent ?? whole, container.parent?.parent ?? whole]
  const large = holding(container, 400, whole)
  const larger = holding(container, 2000, whole)
  return [
    ['leads_2', Math.min(50, parent.leads)],
    ['leads_large', Math.min(50, large.leads)],
    ['linked_1', share(own.linked, own.chars)],
    ['linked_2', share(parent.linked, parent.chars)],
    ['linked_3', share(grandparent.linked, grandparent.chars)],
    ['linked_large', share(large.linked, large.chars)],
    ['linked_larger', share(larger.linked, larger.chars)],
    ['chars_2', Math.log1p(parent.chars)],
    ['chars_3', Math.log1p(grandparent.chars)],
    ['chars_large', Math.log1p(large.chars)],
    ['share_large', share(large.chars, whole.chars)],
    ['share_larger', share(larger.chars, whole.chars)],
    ['paragraphs_large', share(large.paragraphs, large.blocks)],
    ['paragraphs_larger', share(larger.paragraphs, larger.blocks)],
    ['sentences_large', share(large.sentences, large.blocks)],
    ['sentences_larger', share(larger.sentences, larger.blocks)],
  ]
}

function ofRepetition({ container, text }: Block, { twins, texts }: PageStructure): Feature[] {
  return [
    ['twins', Math.log1p(twins.get(lineageOf(container)) ?? 1)],
    ['same_texts', Math.log1p(texts.get(text) ?? 1)],
  ]
}

/** Position relative to the innermost element that has most of the prose. */
function ofMain(container: Container, { main, around_main, whole }: PageStructure): Feature[] {
  const line = [...upward(container)]
  const meeting = line.find((container) => around_main.has(container)) ?? whole
  const branch = main && meeting === main ? line.find(({ parent }) => parent === main) : undefined
  return [
    ['main_away', main ? main.depth - meeting.depth : none],
    ['branch_chars', branch ? Math.log1p(branch.chars) : none],
    ['branch_linked', branch ? share(branch.linked, branch.chars) : none],
    ['branch_prose', branch ? share(branch.prose, whole.prose) : none],
    ['branch_alike', branch ? Math.log1p(branch.alike.count) : none],
    ['branch_leads', branch ? Math.min(50, branch.leads) : none],
  ]
}

/** Position relative to the element whose own paragraphs have the most prose, and to the headline. */
function ofBody(container: Container, index: number, page: PageStructure): Feature[] {
  const { body, around_body, whole, around_headline, headline } = page
  const line = [...upward(container)]
  const at = line.findIndex((container) => around_body.has(container))
  const meeting = line[at] ?? whole
  const branch = line[at - 1]
  const headlineMeeting = line.find((container) => around_headline.has(container)) ?? whole
  return [
    ['body_away', body ? body.depth - meeting.depth : none],
    ['body_before', body ? between(-50, page.body_start - index, 100) : none],
    ['body_after', body ? between(-50, index - page.body_end, 100) : none],
    ['body_branch_chars', branch ? Math.log1p(branch.chars) : none],
    ['body_branch_linked', branch ? share(branch.linked, branch.chars) : none],
    ['body_branch_leads', branch ? Math.min(50, branch.leads) : none],
    ['body_branch_prose', branch ? share(branch.prose, whole.prose) : none],
    ['body_prose', body ? share(body.prose, whole.prose) : none],
    ['body_chars', body ? Math.log1p(body.chars) : none],
    ['headline_away', headline ? headline.depth - headlineMeeting.depth : none],
    ['headline_below', headline ? container.depth - headlineMeeting.depth : none],
    ['headline_meeting', headline ? share(headlineMeeting.chars, whole.chars) : none],
  ]
}

/** The nearest and the outermost element around a block that has similar siblings. */
function ofCards(container: Container, { around_main, whole }: PageStructure): Feature[] {
  const cards = [...upward(container)].filter(({ tag, alike }) => alike.count >= 3 && tag !== 'p')
  const near = cards[0]
  const far = cards.findLast((card) => !around_main.has(card))
  return [
    ['card_alike', near ? Math.log1p(near.alike.count) : none],
    ['card_chars', near ? Math.log1p(near.chars) : none],
    ['outer_card_alike', far ? Math.log1p(far.alike.count) : none],
    ['outer_card_chars', far ? Math.log1p(far.chars) : none],
    ['outer_card_linked', far ? share(far.linked, far.chars) : none],
    ['outer_card_sentences', far ? Math.min(50, far.sentences) : none],
    ['outer_card_prose', far ? share(far.prose, whole.prose) : none],
  ]
}

function ofNeighbours(index: number, { blocks }: PageStructure): Feature[] {
  const next = blocks[index + 1]
  return [
    ['next_chars', next ? Math.log1p(next.chars) : none],
    ['next_linked', next ? share(next.linked, next.chars) : none],
    ['next_sentences', next ? Math.min(50, next.sentences) : none],
    ...around(index, 4, blocks),
    ...around(index, 12, blocks),
  ]
}

function around(index: number, reach: number, blocks: readonly Block[]): Feature[] {
  let chars = 0
  let linked = 0
  const end = Math.min(blocks.length - 1, index + reach)
  for (let other = Math.max(0, index - reach); other <= end; other++) {
    const block = blocks[other]
    if (!block) continue
    chars += block.chars
    linked += block.linked
  }
  return [
    [`near_${reach}_chars`, Math.log1p(chars)],
    [`near_${reach}_linked`, share(linked, chars)],
  ]
}

function holding(from: Container, chars: number, whole: Container): Container {
  let container = from
  while (container.chars < chars && container.parent) container = container.parent
  return container.chars < chars ? whole : container
}

function between(min: number, value: number, max: number): number {
  return Math.max(min, Math.min(max, value))
}
