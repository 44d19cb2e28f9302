const list = (names: string): ReadonlySet<string> => new Set(names.split(' '))

export const voidElements = list('area base br col embed frame hr img input link meta param source track wbr')

/** Left out with their content. */
export const dropped = list(
  'script style textarea xmp iframe noembed noframes svg template object applet audio video canvas map select button datalist progress meter title',
)

/** Elements that are written. Of all other elements only the content is written. */
export const passed = list(
  'a abbr address article aside b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img input ins kbd li main mark math semantics annotation mfrac mi mn mo mover mroot mrow msqrt msub msubsup msup mtable mtd mtext mtr munder munderover nav ol p picture pre q rp rt s samp section strong sub summary sup table tbody td tfoot th thead time tr tt ul var',
)

/** Written as a plain `div` or `ul`, so that the words on both sides stay apart. */
export const renamed = new Map(
  [
    'body',
    'center',
    'dir',
    'fieldset',
    'form',
    'frameset',
    'hgroup',
    'label',
    'legend',
    'menu',
    'search',
  ].map((name) => [name, name === 'menu' || name === 'dir' ? 'ul' : 'div']),
)

const blocks = list(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul',
)
const table = list('table')
const cells = list('td th caption')
const tableParts = list('table thead tbody tfoot tr td th caption')
const closesParagraph = list(
  'address article aside blockquote center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section table ul',
)

interface Implied {
  readonly closes: ReadonlySet<string>
  readonly upTo: ReadonlySet<string>
}

const rowGroup: Implied = { closes: list('caption thead tbody tfoot tr td th'), upTo: list('table') }
const cell: Implied = { closes: list('td th caption'), upTo: list('tr table') }
const term: Implied = { closes: list('dt dd'), upTo: list('dl table td th') }
const implied = new Map<string, Implied>([
  ['li', { closes: list('li'), upTo: list('ul ol menu dir table td th') }],
  ['dt', term],
  ['dd', term],
  ['tr', { closes: list('tr td th caption'), upTo: list('table thead tbody tfoot') }],
  ['td', cell],
  ['th', cell],
  ['thead', rowGroup],
  ['tbody', rowGroup],
  ['tfoot', rowGroup],
  ['a', { closes: list('a'), upTo: blocks }],
])
const paragraph: Implied = { closes: list('p'), upTo: new Set([...blocks].filter((name) => name !== 'p')) }

/**
 * Number of the open elements that stay open when `name` starts: `<li>` ends a `<li>`, a block ends a `<p>`
 * (HTML Standard, 13.1.2.4, optional tags).
 */
export function openBefore(name: string, open: readonly { readonly name: string }[]): number {
  const rules = [implied.get(name), closesParagraph.has(name) ? paragraph : undefined]
  return rules.reduce((length, rule) => (rule ? remaining(rule, open, length) : length), open.length)
}

function remaining(
  { closes, upTo }: Implied,
  open: readonly { readonly name: string }[],
  length: number,
): number {
  let left = length
  for (let index = length - 1; index >= 0; index--) {
    const name = open[index]?.name ?? ''
    if (closes.has(name)) left = index
    else if (upTo.has(name)) break
  }
  return left
}

/** Index of the open element that an end tag closes, or -1; the search stops at the enclosing cell, table or block. */
export function endedBy(name: string, open: readonly { readonly name: string }[]): number {
  const bound = tableParts.has(name) ? table : blocks.has(name) ? cells : blocks
  for (let index = open.length - 1; index >= 0; index--) {
    const other = open[index]?.name ?? ''
    if (other === name) return index
    if (bound.has(other)) return -1
  }
  return -1
}
