import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PackageName } from '../../schemas/names.ts'
import { reservedWords } from '../../src/registry/entry/name-rules.ts'
import { routes } from '../../src/transports/http/routes.ts'
import { everyScope, startGateway, type TestGateway } from '../support/gateway.ts'
import { publication } from '../transports/cases.ts'

/** The answers to a stranger who publishes a name and takes it live, where names are open, and where they need a proof. */
interface Expected {
  readonly open: string
  readonly proof: string
}

const same = (outcome: string): Expected => ({ open: outcome, proof: outcome })

/** Every name that the table below expects to have one outcome, separated by white space. */
const names = (text: string) => text.trim().split(/\s+/)

const table: readonly (readonly [why: string, expected: Expected, names: readonly string[]])[] = [
  [
    'under a registrable domain',
    { open: 'live', proof: 'forbidden at go_live' },
    names(`com.google com.google.gemini com.google/gemini com.google.gemini/server com.openai.chatgpt
      com.microsoft.copilot com.paypal com.paypa1 com.g00gle com.goog1e com.rnicrosoft com.xn--ggle-0nda
      com.xn--80ak6aa92e org.wikipedia.search org.mozilla.mdn net.cloudflare.dns net.php.docs io.sentry.issues
      ai.anthropic.claude ai.x.grok dev.deno.deploy app.notion co.hugging.face me.telegram.bot tv.twitch.chat
      de.bund.amt fr.gouv.impots.taxe uk.co.bbc.news uk.co.bbc uk.org.wikimedia uk.ac.ox.library jp.co.sony.shop
      au.com.qantas.flights br.com.itau.bank cn.com.baidu.map in.co.flipkart nz.co.air kr.co.samsung
      eu.europa.law us.nasa.images gov.nasa.moon edu.mit.courses mil.army.maps int.who.news info.weather.now
      biz.shop.cart xyz.abc.letters online.store.help cloud.run.jobs shop.my.cart blog.my.posts
      io.github.microsoft io.github.microsoft/server io.github.user.agent io.gitlab.group/agent
      app.vercel.demo dev.workers.demo app.netlify.demo dev.pages.demo com.herokuapp.demo com.blogspot.demo
      io.readthedocs.demo com.azurewebsites.demo net.azurewebsites.demo app.web.demo com.firebaseapp.demo
      ninja.code.dojo google.docs.reader amazon.aws.cost apple.maps.route bmw.cars.fleet java.redis
      museum.louvre.tour coop.food.list aero.sky.flight jobs.work.find mobi.app.one pro.lawyer.help tel.book.find
      travel.go.far cat.nom.un zone.time.now wiki.svcutility tools.dev.lint agency.ad.plan software.test.run
      my.agent com.goo_gle.docs com.bank.apps com.banks.app com.bank-app org.bank.app arpa.in-addr.ten`),
  ],
  [
    'reserved for documentation by RFC 2606',
    same('live'),
    names(`com.example com.example.weather com.example/weather com.example.weather/server com.example.a.b.c
      org.example org.example.maps net.example net.example.dns test.weather test.a.b example.weather
      example.a/b invalid.weather invalid.a.b localhost.weather localhost.a.b`),
  ],
  [
    'under no top-level domain',
    same('live'),
    names(`npm.x npm.scope/name pypi.requests crate.serde acme.tool acme.tool.hammer acme/tool my-company.agent
      my_company.agent weather-bot.v2 bot1.helper 1.2 10.0.0.1 a/b agents.internal corp.mail lan.printer
      internal.wiki x.y zz.top svcs.mine customs.office searches.all publishing.house validator.w3
      apis.list mcp.server/tool a2a.echo docker.alpine`),
  ],
  [
    'public suffixes',
    same('unavailable'),
    names(`com.br uk.co uk.org uk.ac jp.co au.com io.github io.gitlab app.vercel dev.workers app.netlify dev.pages
      com.herokuapp com.blogspot io.readthedocs app.web com.firebaseapp com/anything uk.co/anything io.github/user
      google/anything in.co nz.co`),
  ],
  [
    'of one segment',
    same('unavailable'),
    names(
      `com org net info dev google agent weather test example invalid localhost my-agent my_agent agent1 123`,
    ),
  ],
  ['words of paths', same('unavailable'), names(`search publish validate api custom`)],
  ['taken by a listed agent, or confusable with it', same('taken'), names(`com.bank.app c0m.bank.app`)],
  [
    'taken by a hidden agent, or confusable with it',
    same('unavailable'),
    names(`com.bank.hidden c0m.bank.hidden com.bank.gone com.bank.rnoney`),
  ],
  ["the operator's", same('forbidden'), names(`svc svc.mine svc.registry svc-registry svc/registry svc_x.y`)],
  ['addresses', same('invalid_request'), names(`custom.mine custom.svc.registry custom.com.example`)],
  [
    'not in the grammar of names, as all that are not lower-case ASCII',
    same('invalid_request'),
    names(`com.gооgle com.ɡoogle com.ｇｏｏｇｌｅ com.𝐠oogle com.ⓖoogle com.goog̲le com.pаypal com.paypaӏ cоm.google
      com.gοοgle com.ꮐoogle com.googⅼe com.go‌ogle com.googlе com.G00GLE COM.GOOGLE com.google. .com com..bank.hidden com/google/x
      com.google™ com.güügle com。google com．google com.google:8080 com.google@x ab`),
  ],
]

const modes = ['open', 'proof'] as const
const stranger = publication('')

describe.each(modes)('where names are %s', (mode) => {
  let home: TestGateway
  let mallory: string
  let admin: string

  const publish = (package_name: string, token: string) =>
    home.request('POST', '/api/agents/publish', { token, body: { ...stranger, package_name } })

  beforeAll(async () => {
    home = await startGateway({ DRAGOMAN_NAMES: mode })
    mallory = await home.token('mallory')
    admin = await home.token('root', { scopes: [...everyScope, 'admin'] })
    for (const name of ['com.bank.app', 'com.bank.hidden', 'com.bank.gone', 'com.bank.money']) {
      expect((await publish(name, admin)).status).toBe(201)
    }
    expect((await home.request('POST', '/api/agents/com.bank.app/go-live', { token: admin })).status).toBe(
      200,
    )
    expect((await home.request('DELETE', '/api/agents/com.bank.gone', { token: admin })).status).toBe(204)
  })
  afterAll(() => home[Symbol.asyncDispose]())

  /** What comes of publishing the name and taking it live. */
  async function outcomeOf(name: string): Promise<string> {
    const published = await publish(name, mallory)
    if (published.status !== 201) {
      const { code, detail } = published.json
      if (code !== 'conflict') return code
      return detail === 'This name cannot be taken.' ? 'unavailable' : 'taken'
    }
    const { id } = published.json
    const live = await home.request('POST', `/api/agents/${id}/go-live`, { token: mallory })
    return live.status === 200 ? 'live' : `${live.json.code} at go_live`
  }

  test.each(table)('names %s are as the table says', async (_, expected, group) => {
    const outcomes: Record<string, string> = {}
    for (const name of group) outcomes[name] = await outcomeOf(name)
    expect(outcomes).toEqual(Object.fromEntries(group.map((name) => [name, expected[mode]])))
  })

  test.each([
    ['REST', (package_name: string) => publish(package_name, mallory)],
    [
      'JSON-RPC',
      (package_name: string) => {
        const params = { ...stranger, package_name }
        const body = { jsonrpc: '2.0', id: 1, method: 'registry.publish', params }
        return home.request('POST', '/rpc', { token: mallory, body })
      },
    ],
    [
      'envelopes',
      (package_name: string) => {
        const body = { to: 'svc.registry', action: 'publish', params: { ...stranger, package_name } }
        return home.request('POST', '/a2a/message', { token: mallory, body })
      },
    ],
  ])('%s answers a reserved name as the name of a hidden agent, to the byte', async (_, ask) => {
    const refused = [
      'search',
      'com',
      'io.github',
      'weather',
      'com.bank.hidden',
      'com.bank.gone',
      'c0m.bank.hidden',
    ]
    const answers = await Promise.all(refused.map(ask))
    const texts = answers.map(({ status, headers, text }) => {
      const [, instance = ''] = /"instance":"([^"]+)"/.exec(text) ?? []
      const sent = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id')
      return JSON.stringify([status, sent, text]).replaceAll(instance, 'ID')
    })
    expect(texts[0]).toContain('This name cannot be taken.')
    expect(new Set(texts)).toEqual(new Set([texts[0]]))
  })
})

describe('a name under a registrable domain', () => {
  test('goes live by the token of an operator, as no setting asks for a proof', async () => {
    await using home = await startGateway()
    const token = await home.token('me')
    await home.request('POST', '/api/agents/publish', { token, body: publication('com.google.gemini') })
    const live = await home.request('POST', '/api/agents/com.google.gemini/go-live', { token })
    expect([live.status, live.json.state]).toEqual([200, 'ACTIVE'])
  })

  test('that needs a proof goes live by a namespace claim or an admin, and others are told what to do', async () => {
    await using home = await startGateway({ DRAGOMAN_NAMES: 'proof' })
    const token = await home.token('me')
    await home.request('POST', '/api/agents/publish', { token, body: publication('com.google.gemini') })
    const goLive = (token: string) => home.request('POST', '/api/agents/com.google.gemini/go-live', { token })
    const refused = await goLive(token)
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden'])
    expect(refused.json.detail).toContain('google.com')
    for (const way of ['verify', 'token create --namespace com.google']) {
      expect(refused.json.hint).toContain(way)
    }
    expect((await goLive(await home.token('me', { namespaces: ['com.gogle'] }))).status).toBe(403)
    expect((await goLive(await home.token('me', { namespaces: ['com.google'] }))).status).toBe(200)
    await home.request('POST', '/api/agents/com.google.gemini/unpublish', { token })
    expect((await goLive(token)).status).toBe(403)
    expect((await goLive(await home.token('root', { scopes: ['admin'] }))).status).toBe(200)
  })
})

test.each([
  ['com', false],
  ['search', false],
  ['weather', false],
  ['com.example.weather', true],
])('validating a publication named %s finds it valid: %s', async (package_name, valid) => {
  await using home = await startGateway()
  const body = { publication: { ...stranger, package_name } }
  const { json } = await home.request('POST', '/api/agents/validate', { body })
  expect(json.valid).toBe(valid)
  const codes = json.findings.map(({ code }: { code: string }) => code)
  expect(codes).toEqual(valid ? [] : ['reserved_name'])
})

test('validation tells a caller that a name is taken, reserved, or an agent of their own', async () => {
  await using home = await startGateway()
  const [ada, eve] = [await home.token('ada'), await home.token('eve')]
  const claimed = await home.token('fay', { namespaces: ['com.fay'] })
  for (const [name, token] of [
    ['acme.weather', ada],
    ['acme.hidden', ada],
    ['com.fay.tea', claimed],
  ] as const) {
    await home.request('POST', '/api/agents/publish', { token, body: publication(name) })
  }
  await home.request('POST', '/api/agents/acme.weather/go-live', { token: ada })
  const validated = async (name: string, token?: string) => {
    const body = { publication: publication(name) }
    const { json } = await home.request('POST', '/api/agents/validate', { token, body })
    return [json.valid, ...json.findings.map(({ code, field }: Record<string, string>) => `${code} ${field}`)]
  }
  const taken = [false, 'name_taken /package_name']
  for (const name of ['acme.weather', 'acme.hidden', 'com.fay.coffee', 'svc.mine'])
    expect(await validated(name, eve)).toEqual(taken)
  for (const name of ['acme.weather', 'acme.hidden'])
    expect(await validated(name, ada)).toEqual([true, 'own_name /package_name'])
  expect(await validated('acme.free', eve)).toEqual([true])
  expect(await validated('com.fay.coffee', claimed)).toEqual([true])
  expect(await validated('acme.hidden')).toEqual([true])
})

test('the table has 200 names and more, each once', () => {
  const all = table.flatMap(([, , group]) => group)
  expect(new Set(all).size).toBe(all.length)
  expect(all.length).toBeGreaterThanOrEqual(200)
})

test('every fixed segment of a path beside a parameter is no name', () => {
  const paths = routes.map(({ path }) => path.split('/'))
  const beside = paths.flatMap((path) =>
    path.flatMap((segment, at) => {
      if (!segment.startsWith(':')) return []
      const before = path.slice(0, at).join('/')
      return paths
        .filter((other) => other.length > at && other.slice(0, at).join('/') === before)
        .map((other) => other[at] as string)
        .filter((other) => !other.startsWith(':') && PackageName.safeParse(other).success)
    }),
  )
  expect(new Set(beside).size).toBeGreaterThan(2)
  expect([...new Set(beside)].filter((word) => !reservedWords.has(word))).toEqual([])
})
