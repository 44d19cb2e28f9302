import { globSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { AgentPage } from '../../../schemas/search.ts'
import { results } from '../../../src/transports/page/site/results.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway } from '../../support/gateway.ts'
import { hostedNames } from '../../support/hosted.ts'

const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`
const override = '\u202Etxt.exe'

const home = await startGateway()
const { store, tailer } = home.gateway
const hostile = sampleEntry({
  package_name: 'com.example.hostile',
  name: `Hostile ${attack}`,
  description: `Umbrella ${attack} ${'long '.repeat(2000)}`,
  category: 'odd-things',
  license: 'MIT',
  tags: [attack.slice(0, 40)],
  source_url: 'javascript:alert(3)',
  capabilities: [
    {
      name: attack.slice(0, 60),
      description: attack,
      input_schema: {
        type: 'object',
        required: ['field-1'],
        properties: Object.fromEntries(
          Array.from({ length: 500 }, (_, at) => [
            `field-${at}`,
            { type: 'string', description: `${attack}${override}` },
          ]),
        ),
      },
    },
  ],
})
const many = Array.from({ length: 25 }, (_, at) =>
  sampleEntry({
    package_name: `com.example.plain${at}`,
    name: `Plain ${at}`,
    description: 'Folds paper swans.',
  }),
)
const { revision } = await store.write(async (writer) => {
  for (const entry of [hostile, ...many]) await writer.put(entry)
})
await tailer.caughtUp(revision)

afterAll(() => home[Symbol.asyncDispose]())

const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const open = (path: string, headers: Record<string, string> = browser) =>
  home.request('GET', path, { headers })

describe('a misspelt search', () => {
  test('shows what was searched for instead, with the search for the exact words', async () => {
    const { text } = await open('/search?q=umbrela')
    expect(text).toContain('Shown for <strong>umbrella</strong> instead of <q>umbrela</q>.')
    expect(text).toContain('href="/search?q=umbrela&amp;exact=true"')
    const exact = await open('/search?q=umbrela&exact=true')
    expect(exact.text).not.toContain('Shown for')
  })
})

describe('the results', () => {
  test('say in words how well each agent fits', async () => {
    const { text } = await open('/search?q=plain+3')
    const [best = ''] = text.split('<article class="hit">').slice(1)
    expect(best).toMatch(/Plain 3<[\s\S]*<span>Fits well<\/span>/)
    expect((await open('/search?q=repair+a+leaking+faucet+below+my+paper+sink')).text).toContain(
      '<span>Fits poorly</span>',
    )
    expect((await open('/search')).text).not.toMatch(/Fits|May fit/)
  })

  test('show what another choice of a filter would find', async () => {
    const { text } = await open('/search?category=odd-things')
    const other = /<a href="\/search\?category=([a-z-]+)">[^<]* <span class="count">(\d+)</.exec(text)
    const [, slug, count] = other ?? []
    const { json } = await home.request('GET', `/public/agents?category=${slug}`)
    expect(json.total).toBe(Number(count))
    expect(text).toMatch(/category=odd-things" aria-current|"\/search" aria-current="true">Odd things/)
  })
})

describe('the front page', () => {
  test.each([
    [browser.Accept, 'text/html; charset=utf-8'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['application/json, text/html;q=0.5', 'application/json'],
    ['text/html;q=0', 'application/json'],
  ])('for Accept: %s is %s', async (accept, type) => {
    const { status, headers } = await open('/', { Accept: accept })
    expect([status, headers.get('content-type')]).toEqual([200, type])
    // A shared cache keeps one answer of each kind.
    expect(headers.get('vary')).toMatch(/^Accept,/)
  })

  test('counts what is listed and what can be called', async () => {
    const { text } = await open('/')
    expect(text).toContain(`<dd>${hostedNames.length + 1 + many.length}</dd>`)
    expect(text).toContain('href="/search?category=utilities">Utilities')
  })

  test('of a new registry suggests searches that its own agents fit, and says how to fill it', async () => {
    await using fresh = await startGateway()
    const { text } = await fresh.request('GET', '/', { headers: browser })
    expect(text).toContain('<code>dragoman mirror add official</code>')
    const suggested = [...text.matchAll(/class="chip" href="(\/search\?q=[^"]+)"/g)].map(([, path]) => path)
    expect(suggested.length).toBeGreaterThan(1)
    for (const path of suggested) {
      const { text: results } = await fresh.request('GET', `${path}`, { headers: browser })
      expect(results).toMatch(/<span>(Fits well|May fit)</)
    }
    expect((await open('/')).text).not.toContain('mirror add official')
  })

  test('shows calls that work as they are written', async () => {
    const { text } = await open('/')
    const token = await home.token('visitor')
    for (const id of ['rest', 'a2a', 'rpc']) {
      const [, shown = ''] = new RegExp(`<pre class="say-${id}"[^>]*>(.*?)</pre>`, 's').exec(text) ?? []
      const plain = shown.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"')
      const [head = '', body = ''] = plain.split('\n\n')
      const [line = '', ...more] = head.split('\n')
      const [method = '', url = ''] = line.split(' ')
      const { text: answer } = await home.request(method, url.replace(home.url, ''), {
        token,
        headers: {
          'Content-Type': 'application/json',
          ...Object.fromEntries(more.map((field) => field.split(': '))),
        },
        // The call is made: only the address that it asks for is none of the internet here.
        body: body.replace('https://example.com/', 'http://127.0.0.1:9/'),
      })
      expect(answer, id).toContain('"blocked_address"')
    }
  })

  test('with a query leads to its results', async () => {
    const { text } = await open('/?q=swans&limit=2')
    expect(text).toContain('Plain')
    expect(text).toContain('value="swans"')
  })
})

test.each([
  ['/no-such-page', browser, 'text/html; charset=utf-8'],
  [`/${encodeURIComponent(attack)}`, browser, 'text/html; charset=utf-8'],
  ['/no-such-page', { Accept: 'application/json' }, 'application/problem+json'],
  ['/no-such-page', {}, 'application/problem+json'],
])('%s does not exist, and says so as a page to people alone', async (path, headers, type) => {
  const answer = await open(path, headers)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, type])
  expect(answer.text).toContain('not_found')
  expect(answer.text).not.toContain('<script>alert')
})

describe('the page of a search', () => {
  test('shows the agents in the order of the search, with what matched', async () => {
    const { text } = await open('/search?q=folds+paper+swans')
    expect(text.match(/<article class="hit">/g)).toHaveLength(20)
    expect(text).toContain('<mark>Folds</mark> <mark>paper</mark> <mark>swans</mark>')
    expect(text).toContain('words folds, paper, swans')
  })

  test('leads from page to page, and keeps the words and the filters', async () => {
    const { text } = await open('/search?q=folds+paper+swans&protocol=none')
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(text) ?? []
    const address = next.replaceAll('&amp;', '&')
    expect(address).toContain('q=folds+paper+swans&protocol=none&cursor=')
    const second = await open(address)
    expect(second.text.match(/<article class="hit">/g)).toHaveLength(5)
    expect(second.text).toContain('Back to the first page')
  })

  test('marks the filter in force, and its link lifts the filter', async () => {
    const { text } = await open('/search?q=umbrella&license=mit')
    expect(text).toContain('<a href="/search?q=umbrella" aria-current="true">MIT')
    expect(text).toContain('<input type="hidden" name="license" value="mit">')
  })

  test('is in the order that one chooses, which a new search keeps', async () => {
    const { text } = await open('/search?q=folds+paper+swans')
    expect(text).toContain('<a href="/search?q=folds+paper+swans" aria-current="true">Best first</a>')
    expect(text).toContain('<a href="/search?q=folds+paper+swans&amp;sort=name">By name</a>')
    const named = await open('/search?q=folds+paper+swans&sort=name')
    expect(named.text).toContain('sort=name" aria-current="true">By name</a>')
    expect(named.text).toContain('<input type="hidden" name="sort" value="name">')
    // Without words none is better than another.
    const all = await open('/search')
    expect(all.text).toContain('<a href="/search" aria-current="true">Newest first</a>')
    expect(all.text).not.toContain('Best first')
  })

  test('helps where nothing fits', async () => {
    const { text } = await open('/search?q=zzqqxx&license=mit')
    expect(text).toContain('Nothing here does that.')
    expect(text).toContain('<a class="button" href="/search?q=zzqqxx">')
  })

  test('tells the operator of a new registry how to fill it, where nothing fits', async () => {
    await using fresh = await startGateway()
    const path = '/search?q=will+it+rain+tomorrow'
    const { text } = await fresh.request('GET', path, { headers: browser })
    const { json } = await fresh.request('GET', '/public/agents?limit=1')
    expect(text).toContain('Nothing here does that.')
    expect(text).not.toContain('>will it rain tomorrow</a>')
    expect(text).toContain(`This registry lists ${json.total} agents so far.`)
    expect(text).toContain('<code>dragoman mirror add official</code>. <a href="/docs/mirror">')
    expect((await fresh.request('GET', '/docs/mirror', { headers: browser })).status).toBe(200)
    // Neither where something fits, nor in a registry that is filled.
    const other = await fresh.request('GET', '/search?q=read+a+web+page', { headers: browser })
    expect(other.text).not.toContain('so far')
    expect((await open('/search?q=zzqqxx')).text).not.toContain('so far')
  })

  test('of 100,000 agents is as long as one of 20', async () => {
    const { json } = await home.request('GET', '/public/agents?q=paper&limit=20&facets=true')
    const few: AgentPage = { ...json, total: 20, next_cursor: null }
    const values = (name: string) => Array.from({ length: 5_000 }, (_, at) => [`${name}-${at}`, 20])
    const facets = Object.fromEntries(
      Object.keys(json.facets).map((name) => [name, Object.fromEntries(values(name))]),
    )
    const many = { ...few, total: 100_000, facets, next_cursor: 'x'.repeat(400) } as AgentPage
    const search = new URLSearchParams('q=paper')
    const elements = (found: AgentPage) => results(found, search).main.html.match(/<[a-z]/g)?.length ?? 0
    expect(results(many, search).main.html).toContain('<strong>100\u202f000</strong> agents')
    expect(elements(many) - elements({ ...few, facets: undefined })).toBeLessThanOrEqual(220)
  })

  test('of an empty form lists all agents', async () => {
    const { status, text } = await open('/search?q=')
    expect([status, text.match(/<article class="hit">/g)?.length]).toEqual([200, 20])
  })

  test('of a path of two slashes is the front page', async () => {
    expect((await open('//')).status).toBe(200)
  })

  test.each([
    ['/search?tag=x', 400, 'invalid_request'],
    ['/search?cursor=x', 400, 'invalid_request'],
    ['/agent/com.example.none', 404, 'not_found'],
  ])('an error at %s is a page with its code', async (path, status, code) => {
    const answer = await open(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
    expect(answer.text).toContain(`<a href="/docs/errors#${code}"><code>${code}</code></a>`)
  })
})

describe('the page of an agent', () => {
  test('shows how each host uses it', async () => {
    const { text } = await open('/agent/svc.utility.finance')
    expect(text).toContain('vscode:mcp/install?')
    expect(text).toContain('claude mcp add --scope user --transport http')
    expect(text).toContain(`${home.url}/mcp/agents/svc.utility.finance`)
  })

  test('shows texts of publishers as texts, links no other scheme, and draws a bounded number of fields', async () => {
    const { text } = await open('/agent/com.example.hostile')
    expect(text).not.toMatch(/<script>alert|<img src=x|href="javascript:/)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;')
    expect(text.match(/class="kind"/g)).toHaveLength(60)
    const search = await open('/search?q=hostile')
    expect(search.text).toContain('com.example.hostile')
    expect(search.text).not.toMatch(/<script>alert|<img/)
  })

  test('without a description has no empty parts', async () => {
    const { store, tailer } = home.gateway
    const bare = sampleEntry({ package_name: 'com.example.bare', name: 'Bare', description: '' })
    const { revision } = await store.write((writer) => writer.put(bare))
    await tailer.caughtUp(revision)
    for (const path of ['/agent/com.example.bare', '/search?q=bare']) {
      const { status, text } = await open(path)
      expect([status, text.includes('Bare')]).toEqual([200, true])
      expect(text).not.toMatch(/<p[^>]*><\/p>|<meta name="description" content="">/)
    }
  })

  test('is at the name with its slash', async () => {
    expect((await open('/agent/com.example.plain1')).text).toContain('<h1 dir="auto">Plain 1</h1>')
  })
})

test('the page of the connection gives hosts the gateway as a whole', async () => {
  const { text } = await open('/connect')
  expect(text).toContain(`claude mcp add --scope user --transport http dragoman ${home.url}/mcp`)
})

describe('every page', () => {
  const paths = [
    '/',
    '/search?q=swans',
    '/agent/svc.utility.finance',
    '/connect',
    '/agent/none.such',
    '/none',
  ]

  test.each(paths)('%s takes scripts and styles from here alone, and has none within', async (path) => {
    const { text, headers } = await open(path)
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types page")
    expect(text).not.toMatch(/<style|\sstyle=|<script>|\son\w+=/)
    expect(headers.get('x-frame-options')).toBe('DENY')
  })

  test.each(paths)('%s loads files that are here, for ever', async (path) => {
    const { text } = await open(path)
    const files = [...text.matchAll(/(?:href|src)="(\/-\/[^"]+)"/g)].map(([, file = '']) => file)
    expect(new Set(files).size).toBe(4)
    for (const file of files) {
      const { status, headers } = await open(file)
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
    }
  })

  test('of an older release finds its files, which are not cached for ever', async () => {
    const { status, headers } = await open('/-/older/style.css')
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect((await open('/-/older/none.css')).json.code).toBe('not_found')
  })

  test('has scripts without words of their own', () => {
    const folder = new URL('../../../assets/', import.meta.url)
    for (const file of globSync('*.js', { cwd: folder })) {
      const code = readFileSync(new URL(file, folder), 'utf8').replace(/\/\*\*[\s\S]*?\*\/|\/\/ .*/g, '')
      expect([file, code.match(/(['"`])[A-Z][^'"`\n]* [^'"`\n]*\1/g)]).toEqual([file, null])
    }
  })

  test('shares one style sheet of 6 KB, and loads scripts of 8 KB at most, compressed', async () => {
    const { text } = await open('/')
    const [, folder = ''] = /href="(\/-\/[^/]+\/)style\.css"/.exec(text) ?? []
    const scripts = globSync('*.js', { cwd: new URL('../../../assets/', import.meta.url) })
    const sizes = new Map<string, number>()
    for (const file of ['style.css', ...scripts]) {
      const { status, headers } = await open(`${folder}${file}`, { 'Accept-Encoding': 'br' })
      expect([file, status]).toEqual([file, 200])
      sizes.set(file, Number(headers.get('content-length')))
    }
    const { 'style.css': css = 0, 'theme.js': theme = 0, ...others } = Object.fromEntries(sizes)
    expect(css).toBeLessThanOrEqual(6_000)
    expect(theme + Math.max(...Object.values(others))).toBeLessThanOrEqual(8_000)
  })
})
