import type { Page } from 'playwright-core'
import type { GatewayOptions } from '../../src/app/runtime.ts'
import { serve } from '../net/support.ts'
import { sampleEntry } from './entries.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { pngOf } from './pictures.ts'
import { listHostileAgent, listSampleAgent } from './sample-agent.ts'
import { authorizationRequest, instantLogin, register } from './sign-in.ts'

export interface SampleView {
  readonly path: string
  /** For somebody who is signed in. */
  readonly isOwn?: boolean
  /** Brings the page into the state that is shown. */
  readonly prepare?: (page: Page) => Promise<void>
}

interface SampleGateway extends TestGateway {
  /** The address of a web page to read. */
  readonly article: string
}

/** The pages that stand alone, by name. */
export const views: Readonly<Record<string, SampleView>> = {
  home: { path: '/' },
  search: { path: '/search?q=fold+paper' },
  'search-nothing': { path: '/search?q=zzqqxx&license=mit' },
  'search-few': { path: '/search?q=zzqqxx' },
  agent: { path: '/agent/svc.utility.finance' },
  'agent-listed': { path: '/agent/com.example.kites' },
  'agent-unknown': { path: '/agent/com.example.swans' },
  versions: { path: '/agent/com.example.kites/versions' },
  'versions-diff': { path: '/agent/com.example.kites/versions/1.3.0...1.4.0' },
  report: { path: '/agent/com.example.kites/report' },
  changes: { path: '/changes' },
  'changes-agent': { path: '/changes?agent=com.example.kites' },
  'search-filtered': { path: '/search?q=paper&category=art-and-culture' },
  readme: { path: '/agent/com.example.tides/readme' },
  'agent-icon': { path: '/agent/com.example.tides' },
  'agent-readme': {
    path: '/agent/com.example.tides',
    async prepare(page) {
      await page.click('[data-load] summary')
      await page.waitForSelector('[data-load] .prose')
    },
  },
  'agent-hostile': { path: '/agent/com.example.hostile' },
  'report-own': { path: '/agent/com.example.kites/report', isOwn: true },
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
  'play-steps': {
    path: '/play?agent=svc.utility.reader',
    async prepare(page) {
      await page.fill('form.call [data-name=url]', 'http://127.0.0.1:9/')
      await page.click('form.call button')
      await page.waitForSelector('#steps li')
    },
  },
  failure: { path: '/agent/none.such' },
  'agent-signed-in': { path: '/agent/com.example.swans', isOwn: true },
  me: { path: '/me', isOwn: true },
  'me-agent': { path: '/me/agents/com.ada.minutes', isOwn: true },
  'me-verify': {
    path: '/me/verify?agent=com.ada.minutes',
    isOwn: true,
    async prepare(page) {
      await page.click('.mine form button')
      await page.waitForSelector('#proof-dns')
    },
  },
  'me-keys': { path: '/me/keys', isOwn: true },
  'me-webhooks': { path: '/me/webhooks', isOwn: true },
  'me-connections': { path: '/me/connections', isOwn: true },
  'me-packages': { path: '/me/packages', isOwn: true },
  'me-registry': { path: '/me/registry', isOwn: true },
  'me-data': { path: '/me/data', isOwn: true },
  publish: { path: '/publish?way=form', isOwn: true },
  'publish-checked': {
    path: '/publish?way=card',
    isOwn: true,
    async prepare(page) {
      await page.fill('[name=card]', '{"name": "Tides"}')
      await page.waitForSelector('#findings .note')
    },
  },
}

interface SignInView extends Omit<SampleView, 'path'> {
  readonly path: string | ((home: TestGateway) => Promise<string>)
}

/** The pages by which people sign in and allow applications; they have a frame of their own, in English. */
export const signInViews: Readonly<Record<string, SignInView>> = {
  'sign-in': { path: '/sign-in' },
  'sign-in-link': { path: '/sign-in/link?code=none' },
  device: { path: '/oauth/device' },
  consent: { path: async (home) => authorizationRequest(home, await register(home)).url, isOwn: true },
}

/** Where a view is. */
export async function addressOf({ path }: SignInView, home: TestGateway): Promise<string> {
  return new URL(typeof path === 'string' ? path : await path(home), home.url).href
}

const login = instantLogin()

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

const readme = `# Tide tables

[![build](https://ci.example/badge.svg)](https://ci.example/) <img src="https://tracker.example/pixel.gif">

Tides of **any harbour**, by day and hour. See [the list of harbours](docs/harbours.md).

## Install

\`\`\`sh
npx -y tide-tables
\`\`\`

| variable | meaning |
| --- | --- |
| \`TIDES_UNIT\` | metres or feet |
| \`TIDES_HARBOUR\` | the harbour where none is named |

> Heights are predictions: a storm changes them.

1. Ask for a harbour.
2. Choose a day.
`

const article = `<!doctype html><title>How to read a tide table</title><article><h1>How to read a tide table</h1>
<p>A tide table lists the times of high and low water at one harbour, and the height of the water at each of them. Between
two of these times the water rises or falls slowly at first, fast in the middle, and slowly again at the end.</p>
<h2>The rule of twelfths</h2>
<p>In the first hour after low water the sea rises by one twelfth of its range, in the second by two, in the third and the
fourth by three each, in the fifth by two, and in the sixth by the last one.</p></article>`

/** A gateway with a few agents and some traffic. */
export async function sampleGateway(
  environment: Record<string, string> = {},
  options: GatewayOptions = {},
): Promise<SampleGateway> {
  // A day has passed before the first reader comes.
  let behind = 24
  const clock = () => Date.now() - behind * 3_600_000
  const publisher = await serve((request, response) => {
    if (request.url === '/tides.png') return response.end(pngOf(48, 48))
    if (request.url === '/article')
      return response.writeHead(200, { 'Content-Type': 'text/html' }).end(article)
    response.writeHead(200, { 'Content-Type': 'text/markdown' }).end(readme)
  })
  const allowed = { DRAGOMAN_ALLOW_ORIGINS: publisher.origin, ...environment }
  const home = await startGateway(allowed, { clock, logins: [login], ...options })
  const { store, tailer, traffic } = home.gateway
  const { revision } = await store.write(async (writer) => {
    for (const [name, title, description, category] of samples) {
      const package_name = `com.example.${name}`
      const files = name === 'tides' && {
        source_url: `${publisher.origin}/tides.md`,
        card: { iconUrl: `${publisher.origin}/tides.png` },
      }
      await writer.put(
        sampleEntry({ package_name, name: title, description, category, license: 'MIT', ...files }),
      )
    }
  })
  await tailer.caughtUp(revision)
  await listSampleAgent(home)
  await listHostileAgent(home)
  for (; behind > 0; behind--) {
    if (behind === 17) continue
    const calls = 40 + ((behind * 37) % 90)
    for (let at = 0; at < calls; at++) {
      const code = at % 11 === 0 ? 'not_found' : behind % 7 === 2 && at % 6 === 0 ? 'upstream_timeout' : 'ok'
      traffic.call(code, 0.001 * (1 + ((at * behind) % 43)))
    }
  }
  for (let at = 0; at < 4; at++) traffic.upstream('com.example.tides', at % 2 ? 'ok' : 'upstream_timeout', 8)
  return {
    ...home,
    article: `${publisher.origin}/article`,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]()
      await publisher[Symbol.asyncDispose]()
    },
  }
}

/** Signs the browser of a page in as somebody with an agent, a key and a webhook. */
export async function signInVisitor(page: Page, home: TestGateway): Promise<void> {
  await page.goto(`${home.url}/sign-in/with/example`)
  const isNew = await page.getByText('You have no agents here yet.').count()
  if (isNew === 0) return
  await page.goto(`${home.url}/publish?way=form`)
  await page.fill('[name=package_name]', 'com.ada.minutes')
  await page.fill('[name=name]', 'My agent')
  await page.fill('#f-description', 'Keeps the minutes of meetings.')
  await page.fill('[name=endpoint]', 'https://ada.com/mcp')
  await page.click('button[value=publish]')
  await page.waitForURL(/\/me\/agents\//)
  await page.goto(`${home.url}/me/keys`)
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.waitForSelector('#secret')
  await page.goto(`${home.url}/me/webhooks`)
  await page.fill('[name=url]', 'https://hooks.example.com/dragoman')
  await page.getByRole('button', { name: 'Create a webhook' }).click()
  await page.waitForSelector('#secret')
}
