import type { Callable } from '../../../../schemas/callable.ts'
import type { Entry } from '../../../../schemas/entry.ts'
import type { LivenessStatus } from '../../../../schemas/liveness.ts'

/** All words of the pages, in English. */
export const words = {
  product: 'Dragoman',
  skip: 'To the content',
  browse: 'Browse',
  connect: 'Connect',
  guide: 'API',
  theme: 'Light or dark',
  search: 'Search',
  ask: 'What do you need done?',
  headline: 'Say what you need. Find the agent that does it, and call it.',
  lead: 'Agents and MCP servers, searched by meaning and called through one gateway, in whichever protocol you already speak.',
  tries: 'Try',
  examples: [
    'turn a PDF into Markdown',
    'will I need an umbrella',
    'book a train in China',
    'ask my Postgres database',
  ],
  listed: 'agents and MCP servers',
  callable: 'callable through this gateway',
  packages: 'to run on your machine',
  categories: 'By category',
  agents: (count: number) => (count === 1 ? 'agent' : 'agents'),
  best_first: 'best first',
  newest_first: 'newest first',
  any: 'Any',
  can: 'can',
  meaning: 'meaning',
  matched: 'words',
  no_word: 'no word in common',
  nothing: 'Nothing here does that.',
  fewer: 'Search without the filters',
  other: 'Say it in other words, or browse all agents.',
  all: 'Browse all agents',
  next: 'Next page',
  first: 'Back to the first page',
  results: 'Agents found',
  filters: 'Filters',
  use: 'Use it',
  copy: 'Copy',
  copied: 'Copied',
  capabilities: (count: number) =>
    count === 0 ? 'No capabilities stated' : count === 1 ? 'One capability' : `${count} capabilities`,
  read_later: 'Its capabilities are read from it when it is called for the first time.',
  facts: 'What is known',
  required: 'required',
  no_input: 'It takes no input.',
  call: 'Call it',
  one_a_line: 'One a line',
  one_of: (count: number) => `one of ${count}`,
  wrong: 'This did not work',
  connect_lead: 'Give your host this gateway, and it can find and call every agent here.',
  home: 'To the front page',
  sign_in: 'Sign in',
  sign_in_again: 'Sign in again',
  resend: 'Your session has changed',
  resend_as: 'You are signed in as',
  resend_signed_out:
    'You are not signed in any more. Sign in in a new tab, come back, and send the form again: nothing that you typed is lost.',
  send: 'Send again',
  liveness: 'Liveness',
  trust: 'Trust',
  signature: 'Card signature',
  version: 'Version',
  license: 'Licence',
  source: 'Source',
  listed_at: 'Listed',
  changed_at: 'Changed',
  document: 'Document',
} as const

export const verificationWords: Readonly<Record<Entry['verification_level'], string>> = {
  unclaimed: 'Nobody has claimed it',
  unverified: 'Not verified',
  domain_verified: 'Domain verified',
}

/** How a caller can use an agent that no probe has looked at. */
export const callableWords: Readonly<Record<Callable, string>> = {
  hosted: 'Runs here',
  open: 'Open to call',
  needs_key: 'Needs a key',
  needs_sign_in: 'Needs a sign-in',
  package: 'Run it yourself',
  stated: 'Not looked at yet',
  no: 'Cannot be called',
}

export const livenessWords: Readonly<Record<LivenessStatus, string>> = {
  alive: 'Answers',
  degraded: 'Unsteady',
  dead: 'Does not answer',
  stale: 'Gone quiet',
  unreachable: 'Never answered',
  unknown: 'Not looked at yet',
}

/** The filters beside the results, with their titles. */
export const railFilters = [
  { name: 'callable', facet: 'callable', title: 'Use' },
  { name: 'protocol', facet: 'protocols', title: 'Protocol' },
  { name: 'category', facet: 'categories', title: 'Category' },
  { name: 'license', facet: 'licenses', title: 'Licence' },
] as const

const short = new Set(['a2a', 'mcp', 'ai', 'api', 'iot', 'os', 'rag', 'sql', 'mit'])

/** A slug in words: `search-data-extraction` becomes `Search data extraction`. */
export function titleOf(slug: string): string {
  const parts = slug.split('-').filter(Boolean)
  const spelled = parts.map((part) => (short.has(part) ? part.toUpperCase() : part)).join(' ')
  return spelled.charAt(0).toUpperCase() + spelled.slice(1)
}

/** A count with narrow no-break spaces between thousands. */
export function countOf(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f')
}
