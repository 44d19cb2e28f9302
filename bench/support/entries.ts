const verbs = [
  'send',
  'read',
  'query',
  'convert',
  'search',
  'summarise',
  'translate',
  'schedule',
  'monitor',
  'deploy',
  'archive',
  'compare',
]
const things = [
  'email',
  'calendar',
  'postgres database',
  'web page',
  'invoice',
  'image',
  'spreadsheet',
  'ticket',
  'repository',
  'weather report',
  'video',
  'contract',
  'map',
  'payment',
  'log file',
  'notebook',
]
const objects = [
  'for teams',
  'in the cloud',
  'on a laptop',
  'with an API key',
  'at night',
  'for shops',
  'in Markdown',
  'by chat',
]
const categories = [
  'communication',
  'databases',
  'developer-tools',
  'finance-fintech',
  'search-data-extraction',
]
const syllables = ['ka', 'lo', 'mi', 'ren', 'tu', 'vas', 'pel', 'dor', 'nix', 'sha', 'gor', 'bel']

const vocabulary = 4000

/**
 * `count` synthetic MCP servers, the same at every call: name and description state the server's purpose, with some
 * twenty words whose frequencies fall as in natural language (Zipf), and three tools. A three-word intent meets about a
 * fifth of the servers, as "query a postgres database" does in real lists.
 */
export function entryLines(count: number): string[] {
  return [...eachEntryLine(count)]
}

/** The same one at a time: a million of them are longer than one text may be. */
export function* eachEntryLine(count: number): Generator<string> {
  const random = numbers(42)
  for (let at = 0; at < count; at++) {
    const verb = pick(verbs, at)
    const thing = pick(things, at * 7 + 3)
    const filler = Array.from({ length: 8 + Math.floor(random() * 30) }, () =>
      word(Math.floor(vocabulary ** random()) - 1),
    )
    yield JSON.stringify({
      packageName: `${verb}-${thing.replaceAll(' ', '-')}-${at}`,
      name: `${thing} ${verb}er ${at}`,
      description: `A server that can ${verb} any ${thing} ${pick(objects, at)}: ${filler.join(' ')}.`,
      category: pick(categories, at),
      url: `https://example.com/${at}`,
      runtime: at % 3 === 0 ? 'python' : 'node',
      tools: [0, 1, 2].map((tool) => ({
        name: `${verb}_${word(at + tool)}`,
        description: `Can ${verb} one ${word(at * 3 + tool)} of a ${thing}.`,
      })),
    })
  }
}

/** Some 1,500 different intents that consist of words of the entries. */
export function intents(): string[] {
  return verbs.flatMap((verb) =>
    things.flatMap((thing) => objects.map((object) => `${verb} a ${thing} ${object}`)),
  )
}

function pick(words: readonly string[], at: number): string {
  return words[at % words.length] ?? ''
}

function word(rank: number): string {
  const { length } = syllables
  return (
    pick(syllables, rank) +
    pick(syllables, Math.floor(rank / length)) +
    pick(syllables, Math.floor(rank / length ** 2) + 5)
  )
}

/** Park and Miller's generator: the same seed gives the same numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
