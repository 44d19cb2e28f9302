import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import type { EntryDetail } from '../../../schemas/card.ts'
import type { LivenessHistory } from '../../../schemas/liveness.ts'
import { livenessOf } from '../../../src/transports/page/site/agent/evidence.ts'
import { callForm } from '../../../src/transports/page/site/agent/form.ts'
import { samplesOf } from '../../../src/transports/page/site/agent/samples.ts'
import { Browser } from '../../support/browser.ts'
import { temporaryFolder } from '../../support/command.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway } from '../../support/gateway.ts'
import { messageIn, modernHeaders, modernRequest } from '../../support/mcp.ts'
import { instantLogin, signIn } from '../../support/sign-in.ts'

const run = promisify(execFile)
const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`
const override = '\u202Etxt.exe'
const long = 'wide'.repeat(2500)
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const login = instantLogin()

/** A schema that refers to itself, at any depth. */
const recursive = {
  type: 'object',
  $defs: {
    node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, label: { type: 'string' } } },
  },
  properties: { tree: { $ref: '#/$defs/node' } },
}

const forecast = {
  name: 'forecast',
  description: 'The forecast for a town.',
  input_schema: {
    type: 'object',
    required: ['town'],
    properties: {
      town: { type: 'string', pattern: '^[A-Za-z ]+$', examples: ['Basel'], description: 'Its name.' },
      parts: { type: 'array', items: { enum: ['rain', 'wind'] } },
      place: { type: 'object', properties: { lat: { type: 'number', minimum: -90 } } },
      filter: { oneOf: [{ type: 'string' }, { type: 'object' }] },
      code: { type: 'string', pattern: '^(a+)+$' },
    },
  },
}

const weather = sampleEntry({
  package_name: 'com.example.weather',
  name: 'Weather',
  description: 'Forecasts rain for any town.',
  version: '1.0.0',
  license: 'MIT',
  verification_level: 'domain_verified',
  owner: { issuer: 'urn:test', subject: 'ada', namespace: null },
  manifest_url: 'https://weather.example.com/card.json',
  source_url: 'https://github.com/example/weather',
  access: { kind: 'open', asked_at: daysAgo(1) },
  endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp' }],
  proof: {
    method: 'dns',
    domain: 'example.com',
    proved_at: daysAgo(3),
    checked_at: daysAgo(0.3),
    failures: 0,
    failing_since: null,
    detail: null,
    card_sha256: null,
    manifest_url: null,
  } as never,
  capabilities: [forecast],
})

const hostile = sampleEntry({
  package_name: 'com.example.hostile',
  name: `${override} ${attack} ${long}`,
  description: `${attack} ${override}`,
  version: attack,
  license: attack,
  category: 'odd',
  tags: [attack.slice(0, 40)],
  source_url: 'data:text/html,<script>alert(3)</script>',
  content_flags: ['asks_for_secrets'],
  deprecated: { message: attack, successor: 'com.example.weather', at: daysAgo(1) },
  origin: {
    source: attack,
    kind: 'lines',
    url: 'javascript:alert(4)',
    name: attack,
    license: null,
    attribution: null,
    takedown: null,
    removed: false,
  },
  access: { kind: 'open', asked_at: daysAgo(1) },
  endpoints: [{ protocol: 'mcp', url: 'https://hostile.example.com/mcp' }],
  capabilities: [
    { name: attack, description: override, input_schema: recursive },
    {
      name: 'many',
      description: attack,
      input_schema: {
        type: 'object',
        required: ['__proto__', attack],
        properties: Object.fromEntries(
          ['__proto__', attack, ...Array.from({ length: 500 }, (_, at) => `field-${at}`)].map((name) => [
            name,
            {
              type: 'object',
              properties: { inner: { type: 'string', pattern: `${attack}(a|a)*$`, description: attack } },
            },
          ]),
        ),
      },
    },
  ],
})

const home = await startGateway({ DRAGOMAN_LIVENESS: 'off' }, { logins: [login] })
const { store, tailer, liveness } = home.gateway
for (const entry of [
  weather,
  hostile,
  { ...weather, version: '1.1.0', description: 'Forecasts snow for any town.' },
]) {
  await store.write(async (writer) => writer.put(entry))
}
await store.write(async (writer) =>
  writer.put({ ...hostile, version: `${attack}2`, description: `${attack} now` }),
)
const packages = [['npm'], ['npm', 'PyPI'], ['pypi']]
for (const [index, types] of packages.entries()) {
  const tool = sampleEntry({
    package_name: `com.example.tool${index + 1}`,
    name: `Tool ${index + 1}`,
    category: 'search-data-extraction',
    packages: types.map((registry_type) => ({ registry_type, identifier: 'tool' })),
  })
  await store.write(async (writer) => writer.put(tool))
}
await store.liveness.watch([{ entry_id: weather.id, place: '[]', active: false }])
const today = Math.floor(Date.now() / 86_400_000)
for (const [day, failures] of [
  [today - 2, 0],
  [today - 1, 3],
  [today, 24],
] as const) {
  const before = await store.liveness.get(weather.id)
  if (!before) throw new Error('It is not watched.')
  const p50_ms = failures === 24 ? null : 180
  const counts = { day, probes: 24, failures, latencies: [], p50_ms, p95_ms: p50_ms }
  const shown = {
    ...before.shown,
    status: 'alive' as const,
    checked_at: daysAgo(0),
    uptime_30d: 0.98,
    p50_ms: 180,
    p95_ms: 400,
  }
  await store.liveness.save([{ ...before, shown, history: { ...before.history, today: counts } }])
}
await tailer.caughtUp(await store.read.revision())
await liveness.livenessCache.sweep()
afterAll(() => home[Symbol.asyncDispose]())

const open = (path: string) => home.request('GET', path, { headers: { Accept: 'text/html' } })
const weatherPage = '/agent/com.example.weather'

describe('the page of an agent', () => {
  test('shows who is behind it, with evidence and dates', async () => {
    const { text } = await open(weatherPage)
    expect(text).toMatch(
      /<strong dir="ltr">example\.com<\/strong> verified by DNS, <time [^>]*>3 days ago<\/time>; checked again daily, last <time [^>]*>7 hours ago/,
    )
    expect(text).toContain(
      '<a href="https://github.com/example/weather" rel="nofollow noopener ugc">github.com</a>',
    )
    const unclaimed = await open('/agent/com.example.hostile')
    expect(unclaimed.text).toContain('Nobody has claimed it. <a href="/me/verify?agent=com.example.hostile">')
    expect(unclaimed.text).toContain('Its texts ask for secrets')
    expect(unclaimed.text).toContain('Use instead <a href="/agent/com.example.weather">')
  })

  test('is found by a name whose slash is written as it is', async () => {
    const answer = await fetch(`${home.url}/agent/com.example/weather`, {
      headers: { Accept: 'text/html' },
      redirect: 'manual',
    })
    expect(answer.headers.get('location')).toBe('/agent/com.example%2Fweather')
  })

  test('draws a bar for each day with a probe, and the same days as a table', async () => {
    const { text } = await open(weatherPage)
    expect(text.match(/<rect class="(all|part|none)"/g)).toEqual([
      '<rect class="all"',
      '<rect class="part"',
      '<rect class="none"',
    ])
    expect(text).toContain(
      `<title>${daysAgo(1).slice(0, 10)}: 24 probes, 3 without an answer · 180 ms</title>`,
    )
    expect(text).toContain('answered 98 % of the last 30 days · median 180 ms · 95 % 400 ms')
    expect(text.match(/<tr><th scope="row">/g)).toHaveLength(3)
    const entry = (await home.request('GET', '/public/agents/com.example.weather')).json as EntryDetail
    const days = await home.request('GET', '/public/agents/com.example.weather/liveness')
    const history = days.json as LivenessHistory
    const firstDay = livenessOf(entry, { ...history, days: history.days.slice(-1) }).html
    expect(firstDay).toContain('median 180 ms')
    expect(firstDay).not.toContain('of the last 30 days')
    expect((await open('/agent/svc.utility.finance')).text).not.toContain('class="strip"')
  })

  test('names the fields that its versions changed, and leads to their comparison', async () => {
    const { text } = await open(weatherPage)
    expect(text).toContain(
      'changed description · <a href="/agent/com.example.weather/versions/1.0.0...1.1.0">',
    )
    expect(text).toContain('All versions (2)')
  })

  test('draws a field for each part of the input, bounded, and JSON for the rest', async () => {
    const { text } = await open('/agent/svc.utility.finance')
    expect(text).toContain('data-kind="whole"')
    const { text: read } = await open(weatherPage)
    expect(read).toContain('<div class="fields inner">')
    const { text: bounded } = await open('/agent/com.example.hostile')
    expect(bounded.match(/class="kind"/g)?.length).toBeLessThanOrEqual(120)
    expect(bounded).toContain('more fields: use JSON.')
  })

  test('is data for search engines, whose texts cannot end it', async () => {
    const { text } = await open('/agent/com.example.hostile')
    const [, data = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? []
    expect(JSON.parse(data)).toMatchObject({
      '@type': 'SoftwareApplication',
      identifier: 'com.example.hostile',
      url: `${home.url}/agent/com.example.hostile`,
    })
    expect(data).not.toContain('<')
    expect(text).toContain(`<link rel="canonical" href="${home.url}/agent/com.example.hostile">`)
  })
})

test('a schema whose values are of other types is drawn', () => {
  const [object, text] = [{ toString: 1 }, 'string']
  const properties = {
    a: { type: object, format: object, maxLength: object },
    b: { type: text, format: 'constructor', maxLength: object },
    c: { type: [text, 'null'] },
  }
  const odd = { name: 'odd', description: '', input_schema: { type: 'object', properties } }
  const { html } = callForm('com.example.odd', odd, 0)
  expect(html).toContain('<input type="text" id="field-0-1"')
  expect(html).toContain('string,null')
})

test('a choice shows what counts where nothing is chosen, and a field that is true by default can be made false', () => {
  const properties = {
    links: { type: 'boolean', default: true },
    format: { enum: ['text', 'page'], default: 'page' },
  }
  const reading = { name: 'read', description: '', input_schema: { type: 'object', properties } }
  const { html } = callForm('com.example.reading', reading, 0)
  expect(html).toContain('<option value="">true (default)</option>')
  expect(html).toContain('<option value="false">false</option>')
  expect(html).toContain('<option value="">page (default)</option>')
})

test.each([
  ['^[a-z]{2}-?[0-9]+$', true],
  ['^(red|green)$', true],
  [`^${'a?'.repeat(40)}${'a'.repeat(40)}$`, false],
  ['^(a+)+$', false],
  ['^a*a*a*$', false],
  ['a+', false],
  ['^[$', false],
])('the pattern %s is left to the browser: %s', (pattern, isDrawn) => {
  const input_schema = { type: 'object', properties: { a: { type: 'string', pattern } } }
  const { html } = callForm('com.example.a', { name: 'a', description: '', input_schema }, 0)
  expect(html.includes(' pattern="')).toBe(isDrawn)
})

describe('hostile texts', () => {
  test.each([
    '/agent/com.example.hostile',
    '/agent/com.example.hostile?capability=many',
    `/agent/com.example.hostile?capability=${encodeURIComponent(attack)}`,
    '/agent/com.example.hostile/versions',
    '/agent/com.example.hostile/report',
    '/changes',
    '/search?q=alert',
  ])('at %s are texts, and no link leads to a scheme that runs', async (path) => {
    const { status, text } = await open(path)
    expect(status).toBe(200)
    const own = /<script type="application\/ld\+json">.*?<\/script>|<link rel="icon" [^>]*>/gs
    const foreign = text.replace(own, '')
    expect(foreign).not.toMatch(/<script>|<img src=x|onerror=alert\(2\)>(?!&)|href="(?:javascript|data):/)
    expect(text).not.toContain('\u202E')
    for (const [link] of text.matchAll(/<a [^>]*href="https?:[^>]*>/g)) {
      expect(link).toContain('rel="nofollow noopener ugc"')
    }
  })

  test('of versions are compared as texts', async () => {
    const { json } = await home.request('GET', '/public/agents/com.example.hostile/versions')
    const [a, b] = json.versions.map(({ revision }: { revision: number }) => `r${revision}`)
    const { status, text } = await open(`/agent/com.example.hostile/versions/${b}...${a}`)
    expect(status).toBe(200)
    expect(text).toContain('&lt;script&gt;')
    expect(text).not.toMatch(/<script>|<img src=x/)
  })

  test('are no markup of badges and feeds', async () => {
    for (const path of [
      '/badge/com.example.hostile.svg',
      '/changes.atom',
      '/sitemap/agents.xml',
      '/opensearch.xml',
    ]) {
      const { status, text } = await home.request('GET', path)
      expect(status).toBe(200)
      expect(text).not.toMatch(/<script|<img|\u202E/)
      expect(text.length).toBeLessThan(60_000)
    }
  })
})

describe('the versions of an agent', () => {
  test('are listed, and two that one chooses are compared', async () => {
    const { text } = await open(`${weatherPage}/versions`)
    expect(text).toContain('2 versions were published.')
    expect(text).toContain('<select name="from">')
    const chosen = await home.request('GET', `${weatherPage}/versions?from=1.0.0&to=1.1.0`, {
      headers: { Accept: 'text/html' },
    })
    expect([chosen.status, chosen.text.includes('What changed')]).toEqual([200, true])
  })

  test('differ by words, with signs beside the colours', async () => {
    const { text } = await open(`${weatherPage}/versions/1.0.0...1.1.0`)
    expect(text).toContain('<h2 class="mono" dir="ltr">/description</h2>')
    expect(text).toMatch(
      /−<span class="skip">before<\/span><\/span> Forecasts<del> rain<\/del> for any town\./,
    )
    expect(text).toMatch(
      /\+<span class="skip">after<\/span><\/span> Forecasts<ins> snow<\/ins> for any town\./,
    )
  })

  test.each([
    ['/versions/1.0.0', 404],
    ['/versions/1.0.0...9.9.9', 404],
    ['/versions?cursor=x', 400],
  ])('that do not exist are an error page: %s', async (path, status) => {
    expect((await open(weatherPage + path)).status).toBe(status)
  })
})

describe('a call as code', () => {
  const params = { query: `fold 'paper' "swans" \\ $HOME \`x\` é😀 \u2028`, limit: 1, facets: true }
  const capability = {
    name: 'search_agents',
    description: '',
    input_schema: {
      required: Object.keys(params),
      properties: Object.fromEntries(
        Object.entries(params).map(([name, value]) => [name, { default: value }]),
      ),
    },
  }
  const sample = (id: string) =>
    samplesOf(home.url, 'svc.registry', capability).find((each) => each.id === id)?.text ?? ''
  const found = () =>
    home.request('GET', `/public/agents?q=${encodeURIComponent(params.query)}&limit=1&facets=true`)

  test.each([
    ['curl', 'bash', 'call.sh'],
    ['typescript', process.execPath, 'call.ts'],
    ['python', 'python3', 'call.py'],
  ])(
    'runs as it stands: %s',
    async (id, program, file) => {
      await using folder = await temporaryFolder()
      await writeFile(
        join(folder.path, file),
        sample(id).replace('await answer.json()', 'JSON.stringify(await answer.json())'),
      )
      const env = { PATH: process.env.PATH ?? '', DRAGOMAN_TOKEN: await home.token('ada') }
      const { stdout } = await run(program, [join(folder.path, file)], { env })
      const { agents } = (await found()).json
      const out = id === 'python' ? stdout : JSON.parse(stdout).agents[0].package_name
      expect(out).toContain(agents[0].package_name)
    },
    30_000,
  )

  test('is a request of MCP', async () => {
    const { method, params: call } = JSON.parse(sample('mcp'))
    const { text } = await home.request('POST', '/mcp', {
      token: await home.token('ada'),
      headers: modernHeaders(method, call.name),
      body: modernRequest(1, method, call),
    })
    expect(JSON.stringify(messageIn(text))).toContain((await found()).json.agents[0].package_name)
  })

  test('has an example of a text whose format has the name of what each object of JavaScript has', () => {
    const input_schema = { required: ['x'], properties: { x: { type: 'string', format: 'constructor' } } }
    const capability = { name: 'odd', description: '', input_schema }
    for (const { text } of samplesOf(home.url, 'com.example.hostile', capability)) {
      expect(text).toMatch(/"x": "\.{3}"/)
    }
  })

  test('has an example of what is required, and nothing that a program reads otherwise', () => {
    const [curl] = samplesOf(home.url, 'com.example.weather', forecast)
    expect(curl?.text).toContain('"town": "Basel"')
    for (const { text } of samplesOf(home.url, 'com.example.hostile', hostile.capabilities[1] ?? forecast)) {
      expect(text).toMatch(/^[\x20-\x7e\n]*$/)
      expect(text).not.toContain('__proto__')
    }
  })
})

test('a skill of A2A takes its message as text, in the form and in code', async () => {
  await using gateway = await startGateway({ DRAGOMAN_LIVENESS: 'off' }, { logins: [login] })
  const { store, tailer } = gateway.gateway
  const ferry = sampleEntry({
    package_name: 'com.example.ferry',
    access: { kind: 'open', asked_at: daysAgo(1) },
    endpoints: [{ protocol: 'a2a', url: 'https://ferry.example.com/' }],
    capabilities: [{ name: 'Book a ferry', id: 'book', description: 'Books a ticket.' }],
  })
  await store.write(async (writer) => writer.put(ferry))
  await tailer.caughtUp(await store.read.revision())
  const page = '/agent/com.example.ferry'
  const browser = new Browser(gateway.url)
  const entrance = `${gateway.url}/sign-in?then=${encodeURIComponent(page)}`
  const { text } = await signIn(browser, await browser.open(entrance))
  expect(text).toMatch(/<input type="text" [^>]*data-name="text"/)
  expect(text).toContain('&quot;text&quot;: &quot;...&quot;')
})

describe('a report', () => {
  test('asks for a sign-in, and then reaches the owner and the operators', async () => {
    const browser = new Browser(home.url)
    const page = await browser.open(`${home.url}${weatherPage}/report`)
    const link = page.links.find((href) => href.includes('/sign-in?then=')) ?? ''
    const form = await signIn(browser, await browser.open(home.url + link))
    expect(form.url).toBe(`${home.url}${weatherPage}/report`)
    const done = await browser.submit(
      form,
      { reason: 'broken', detail: 'It answers nothing.' },
      form.forms.at(-1),
    )
    expect(done.text).toContain('The report has been sent.')
    const { json } = await home.request('GET', '/api/agents/com.example.weather/audit', {
      token: await home.token('root', { scopes: ['admin', 'agents:read'] }),
    })
    expect(json.events[0]).toMatchObject({ action: 'report' })
    const again = await browser.open(form.url)
    const refused = await browser.submit(again, { reason: 'malicious' }, again.forms.at(-1))
    expect(refused.text).toContain('You reported com.example.weather already')
    expect(refused.text).not.toContain('The report has been sent.')
  })

  test('without a reason says so, and nothing is reported', async () => {
    const browser = new Browser(home.url)
    const form = await signIn(
      browser,
      await browser.open(`${home.url}/sign-in?then=${encodeURIComponent(`${weatherPage}/report`)}`),
    )
    expect((await browser.submit(form, { reason: '', detail: 'x' }, form.forms.at(-1))).status).toBe(400)
  })

  test('that is refused is shown again with what was typed and why, and can be sent then', async () => {
    const browser = new Browser(home.url)
    const form = await signIn(
      browser,
      await browser.open(
        `${home.url}/sign-in?then=${encodeURIComponent('/agent/com.example.hostile/report')}`,
      ),
    )
    const long = `<b>${'It lies. '.repeat(300)}`
    const refused = await browser.submit(form, { reason: 'misleading', detail: long }, form.forms.at(-1))
    expect(refused.status).toBe(400)
    expect(refused.text).toMatch(/<div class="note bad" role="alert".*href="#f-detail">detail<\/a>: /s)
    expect(refused.text).toContain('value="misleading" required checked>')
    expect(refused.text).toContain(`&lt;b&gt;${'It lies. '.repeat(300)}</textarea>`)
    // 2,000 characters with line breaks, which browsers send as two characters each.
    const lines = `${'x\r\n'.repeat(999)}xy`
    const sent = await browser.submit(refused, { detail: lines }, refused.forms.at(-1))
    expect(sent.text).toContain('The report has been sent.')
  })
})

describe('the filters of a search', () => {
  test('are what is counted, with their words, and one that takes several values adds the next', async () => {
    const { text } = await open('/search')
    for (const link of [
      '/search?verification=domain_verified">Domain verified',
      '/search?package_type=npm">npm',
      '/search?live=true">Answers now',
      '/search?category=search-data-extraction">Search and data extraction',
    ]) {
      expect(text).toContain(`<a href="${link}`)
    }
    const { text: chosen } = await open('/search?package_type=npm')
    expect(chosen).toContain('<a href="/search?package_type=npm,pypi">pypi')
    const { text: both } = await open('/search?package_type=npm,pypi')
    expect(both).toContain('<a href="/search?package_type=pypi" aria-current="true">npm')
    expect(both).toMatch(/<strong>3<\/strong> agents/)
  })

  test.each([
    ['package_type=npm', ['com.example.tool1', 'com.example.tool2']],
    ['package_type=PYPI', ['com.example.tool2', 'com.example.tool3']],
    ['verification=domain_verified', ['com.example.weather']],
    ['live=true&verification=domain_verified,unverified', ['com.example.weather']],
  ])('select agents in lists and searches: %s', async (query, names) => {
    for (const search of ['', '&q=tool+weather']) {
      const { json } = await home.request('GET', `/public/agents?${query}&sort=name${search}&limit=100`)
      const found = json.agents.map((agent: { package_name: string }) => agent.package_name)
      expect(found.filter((name: string) => !name.startsWith('svc.'))).toEqual(names)
    }
  })

  test('where nothing fits with them, what fits without them is shown, and each can be lifted', async () => {
    const { text } = await open('/search?q=weather&package_type=oci&license=mit')
    expect(text).toContain('Nothing here does that.')
    expect(text).toMatch(/fits? without the filters:/)
    expect(text).toContain('href="/agent/com.example.weather"')
    expect(text).toContain(
      '<a class="chip" href="/search?q=weather&amp;license=mit">Remove the filter: Package</a>',
    )
    expect((await open('/search?q=weather')).text).not.toContain('without the filters')
  })
})

describe('what programs read', () => {
  test('a badge says whether an agent answers, and is kept for five minutes', async () => {
    const { status, text, headers } = await home.request('GET', '/badge/com.example.weather.svg')
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'image/svg+xml',
      'public, max-age=300',
    ])
    expect(text).toContain('<title>Weather · answers · 180 ms · domain verified</title>')
    expect(text).toContain('height="20"')
    const same = await home.request('GET', '/badge/com.example.weather.svg', {
      headers: { 'If-None-Match': headers.get('etag') ?? '' },
    })
    expect(same.status).toBe(304)
    const none = await home.request('GET', '/badge/com.example.none.svg')
    expect([none.status, none.headers.get('content-type')]).toEqual([404, 'image/svg+xml'])
    expect(none.text).toContain('com.example.none · not listed')
  })

  test('the changes are a page and a feed, the newest first', async () => {
    const { text } = await open('/changes')
    expect(text).toContain('<a href="/agent/com.example.weather"><strong><bdi>')
    const atom = await home.request('GET', '/changes.atom')
    expect(atom.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
    const revisions = [...atom.text.matchAll(/changes#r(\d+)/g)].map(([, revision]) => Number(revision))
    expect(revisions).toEqual(revisions.toSorted((left, right) => right - left))
    expect(revisions[0]).toBeGreaterThan(1)
    expect((await open('/changes?up_to=2')).text).toContain('Newest changes')
    expect((await open('/changes?up_to=x')).status).toBe(400)
  })

  test('the changes of one agent are a page and a feed, with what its versions changed', async () => {
    const page = await open('/changes?agent=com.example.weather')
    expect(page.text).toContain('<h1>Changes</h1>')
    expect(new Set(page.text.match(/<bdi>[^<]*/g)).size).toBeLessThanOrEqual(2)
    expect(page.text).toContain('<h2 class="title">Versions</h2>')
    const { text, headers } = await home.request('GET', '/changes.atom?agent=com.example.weather')
    expect(headers.get('content-type')).toBe('application/atom+xml; charset=utf-8')
    expect(text).toContain('<link rel="self" href="')
    expect(text).toContain('/changes.atom?agent=com.example.weather"/>')
    expect(text.match(/<entry>/g)?.length).toBeGreaterThanOrEqual(2)
    expect(text).toMatch(/<title>com\.example\.weather 1\.\d\.0: /)
    const linked = new Set([...text.matchAll(/<link href="[^"]*\/agent\/([^"/]+)/g)].map(([, name]) => name))
    expect([...linked]).toEqual(['com.example.weather'])
    expect((await open('/changes?agent=com.example.none')).status).toBe(404)
    expect((await open('/agent/com.example.weather')).text).toContain(
      'href="/changes?agent=com.example.weather"',
    )
  })

  test('the sitemap names every agent, and robots.txt names the sitemap', async () => {
    const { text } = await home.request('GET', '/sitemap.xml')
    expect(text.match(/<loc>/g)).toHaveLength(1)
    const [, file = ''] = /<loc>([^<]+)<\/loc>/.exec(text) ?? []
    const { text: names } = await home.request('GET', new URL(file).pathname)
    for (const name of ['com.example.weather', 'com.example.hostile', 'svc.registry']) {
      expect(names).toContain(`<loc>${home.url}/agent/${name}</loc>`)
    }
    const behind = await home.request('GET', '/sitemap/agents.xml?after=com.example.hostile')
    expect(behind.text).not.toContain('com.example.hostile')
    expect(behind.text).toContain('com.example.weather')
    expect((await home.request('GET', '/robots.txt')).text).toContain(`Sitemap: ${home.url}/sitemap.xml`)
  })

  test('an address bar searches here, and is given suggestions', async () => {
    const { text } = await home.request('GET', '/opensearch.xml')
    expect(text).toContain(`template="${home.url}/search?q={searchTerms}"`)
    const { json } = await home.request('GET', '/search/suggestions?q=snow+for+a+town')
    expect(json[0]).toBe('snow for a town')
    expect(json[1]).toContain('Weather')
    expect(json[3]).toContain(`${home.url}/agent/com.example.weather`)
    expect((await home.request('GET', '/search/suggestions')).json).toEqual(['', [], [], []])
  })

  test('the icon of old browsers is the icon', async () => {
    const { status, headers } = await home.request('GET', '/favicon.ico')
    expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  })

  test('every page names the search, the feed and the catalog', async () => {
    const { text } = await open('/')
    for (const link of [
      'rel="search" href="/opensearch.xml"',
      'rel="ard" href="/.well-known/ard.json"',
      'href="/changes.atom"',
    ]) {
      expect(text).toContain(link)
    }
  })
})
