import type { Page } from 'playwright-core'
import { sampleEntry } from './entries.ts'
import { startGateway, type TestGateway } from './gateway.ts'

interface SampleView {
  readonly path: string
  /** Brings the page into the state that is shown. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** The pages that stand alone, by name. */
export const views: Readonly<Record<string, SampleView>> = {
  home: { path: '/' },
  search: { path: '/search?q=fold+paper' },
  'search-nothing': { path: '/search?q=zzqqxx&license=mit' },
  agent: { path: '/agent/svc.utility.finance' },
  'agent-listed': { path: '/agent/com.example.swans' },
  connect: { path: '/connect' },
  docs: { path: '/docs' },
  'docs-guide': { path: '/docs/calling' },
  'docs-search': { path: '/docs?q=rate+limit' },
  'docs-errors': { path: '/docs/errors' },
  'docs-decisions': { path: '/docs/decisions' },
  api: { path: '/docs/api' },
  'api-search': { path: '/docs/api/search' },
  'api-schema': { path: '/docs/api/schemas/Agent' },
  'api-methods': { path: '/docs/api/methods' },
  status: { path: '/status' },
  play: { path: '/play' },
  failure: { path: '/agent/none.such' },
}

const samples = [
  [
    'swans',
    'Paper swans',
    'Folds paper swans from any sheet, and tells how to fold them step by step.',
    'art-and-culture',
  ],
  ['cranes', 'Paper cranes', 'Folds a thousand paper cranes for a wedding or a wish.', 'art-and-culture'],
  [
    'tides',
    'Tide tables',
    'Gives the tides of any harbour by day and hour, with the phase of the moon.',
    'weather',
  ],
  [
    'ledger',
    'Ledger',
    'Reads bank statements as CSV or PDF and sorts each line into an account.',
    'finance-fintech',
  ],
  ['umbrella', 'Umbrella', 'Says whether you will need an umbrella tomorrow, hour by hour.', 'weather'],
  ['trains', 'Trains', 'Finds trains between two stations and books the seats.', 'travel'],
] as const

/** A gateway with a few agents and some traffic. */
export async function sampleGateway(
  environment: Record<string, string> = {},
  ...rest: Parameters<typeof startGateway> extends [unknown, ...infer Others] ? Others : never
): Promise<TestGateway> {
  const home = await startGateway(environment, ...rest)
  const { store, follower, traffic } = home.gateway
  const { revision } = await store.write(async (writer) => {
    for (const [name, title, description, category] of samples) {
      const package_name = `com.example.${name}`
      await writer.put(sampleEntry({ package_name, name: title, description, category, license: 'MIT' }))
    }
  })
  await follower.caughtUp(revision)
  for (let at = 0; at < 60; at++) traffic.call(at % 9 === 0 ? 'not_found' : 'ok', 0.002 * (at % 17))
  for (let at = 0; at < 4; at++) traffic.upstream('com.example.tides', at % 2 ? 'ok' : 'upstream_timeout', 8)
  return home
}
