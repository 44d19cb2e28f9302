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
const places = [
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

/** `count` synthetic MCP servers, the same at every call: some 30 words and three tools each. */
export function entryLines(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const verb = pick(verbs, at)
    const thing = pick(things, at * 7 + 3)
    return JSON.stringify({
      packageName: `${verb}-${thing.replaceAll(' ', '-')}-${at}`,
      name: `${thing} ${verb}er ${at}`,
      description: `A server that can ${verb} any ${thing} ${pick(places, at)} and ${pick(verbs, at * 5 + 1)} each ${pick(things, at * 3 + 1)} ${pick(places, at * 11)}, with retries, limits and a log of what it did for whom.`,
      category: pick(categories, at),
      url: `https://example.com/${at}`,
      runtime: at % 3 === 0 ? 'python' : 'node',
      tools: [0, 1, 2].map((tool) => ({
        name: `${pick(verbs, at + tool)}_${pick(things, at + tool).replaceAll(' ', '_')}`,
        description: `Can ${pick(verbs, at + tool)} one ${pick(things, at + tool)}.`,
      })),
    })
  })
}

/** Some 1,500 different intents in the words of the entries. */
export function intents(): string[] {
  return verbs.flatMap((verb) =>
    things.flatMap((thing) => places.map((place) => `${verb} a ${thing} ${place}`)),
  )
}

function pick(words: readonly string[], at: number): string {
  return words[at % words.length] ?? ''
}
