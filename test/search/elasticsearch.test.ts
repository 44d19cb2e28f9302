import { cp } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { IndexTailer } from '../../src/registry/indexing/index-tailer.ts'
import { storeAt } from '../../src/registry/indexing/snapshot.ts'
import { createElasticIndex } from '../../src/search/elasticsearch/elastic-index.ts'
import { createElasticVectors } from '../../src/search/elasticsearch/elastic-vectors.ts'
import { documentTexts, documentVectors } from '../../src/search/index/document-texts.ts'
import { createMeaning } from '../../src/search/index/meaning.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import type { Hits, IndexQuery, SearchIndex, Sort } from '../../src/search/search-index.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { listen } from '../../src/transports/shared/listen.ts'
import { command, run, temporaryFolder } from '../support/command.ts'
import { currentStore } from '../support/current-store.ts'
import {
  elasticsearch,
  openSearch,
  startElasticsearch,
  type TestElasticsearch,
} from '../support/elasticsearch.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { postgresFolder, startPostgres } from '../support/postgres.ts'
import { run as start } from '../support/processes.ts'
import { searchIndexContract } from './contract.ts'
import { ask, documentOf, fill, walk } from './support/documents.ts'
import { plainVectors, tinyEmbedder } from './support/plain-vectors.ts'
import { vectorStoreContract } from './vectors/contract.ts'
import { Pair } from './vectors/oracle.ts'
import { clusteredVectors, idsOf, put, signal } from './vectors/support.ts'

const soon = { timeout: 40_000, interval: 100 }

describe.skipIf(!openSearch)('OpenSearch', () => {
  let server: TestElasticsearch
  let made = 0
  beforeAll(async () => {
    server = await startElasticsearch(undefined, openSearch)
  }, 180_000)
  afterAll(() => server?.[Symbol.asyncDispose]())
  afterEach(() => fetch(`${server.origin}/test-*`, { method: 'DELETE' }))

  searchIndexContract('in OpenSearch', async () =>
    createElasticIndex(engineAt(server.origin, `test-${made++}`)),
  )

  it('has the index of a gateway whose vectors are in memory', async () => {
    await using gateway = await startGateway({
      DRAGOMAN_SEARCH: `elasticsearch+http://127.0.0.1:${new URL(server.origin).port}/test-${made++}`,
      DRAGOMAN_VECTORS: 'memory',
    })
    const capabilities = [{ name: 'act', description: 'Train departures' }]
    await list(gateway, { package_name: 'com.example.train', description: 'Train departures', capabilities })
    const { json } = await gateway.request('GET', '/public/agents?q=railway%20timetable%20departures')
    expect(json.agents[0]).toMatchObject({
      package_name: 'com.example.train',
      match: { similarity: expect.any(Number) },
    })
    expect(json).not.toHaveProperty('degraded')
  })
})

describe.skipIf(!elasticsearch)('Elasticsearch', () => {
  let server: TestElasticsearch
  let made = 0
  const nextIndex = () => `test-${process.pid}-${made++}`
  beforeAll(async () => {
    server = await startElasticsearch()
  }, 180_000)
  afterAll(() => server?.[Symbol.asyncDispose]())
  // A server has room for a thousand indexes only.
  afterEach(() => send('DELETE', `test-${process.pid}-*`))

  const send = (method: string, path: string, body?: unknown) =>
    fetch(`${server.origin}/${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    })

  /** An engine with an index of its own; `prefix` protects it from the end of the next test. */
  const engine = (prefix = '', shards = 1) => engineAt(server.origin, `${prefix}${nextIndex()}`, shards)

  // OpenSearch above has one shard.
  searchIndexContract('in three shards of Elasticsearch', async () => createElasticIndex(engine('', 3)))
  vectorStoreContract(
    'in Elasticsearch',
    async (dimensions) => {
      const store = createElasticVectors({ ...engine(), model: 'plain', dimensions })
      await store.apply([], 0)
      return store
    },
    // Many vectors are searched below, in one shard and in three.
    { runs: 2, share: 0.1, isExact: false, many: false },
  )

  describe.each([1, 3])('many vectors in %i shards', (shards) => {
    const vectors = clusteredVectors(9, 64, 60)
    let pair: Pair
    beforeAll(async () => {
      pair = new Pair(createElasticVectors({ ...engine('kept-', shards), model: 'many', dimensions: 64 }))
      const parts = [2, 12, 100]
      await pair.apply(
        Array.from({ length: 6000 }, (_, at) =>
          put(`${at}`, Array.from({ length: 1 + (at % 4) }, vectors), {
            tags: parts.filter((part) => at % part === 0).map((part) => `every-${part}`),
          }),
        ),
      )
    }, 120_000)

    it.each([
      ['no filter', {}],
      ['a filter of 50 %', { tags: ['every-2'] }],
      ['a filter of 8 %', { tags: ['every-12'] }],
      ['a filter of 1 %', { tags: ['every-100'] }],
    ])('are searched for the nearest with %s', async (_, filter) => {
      let found = 0
      for (let query = 0; query < 30; query++) {
        const vector = vectors()
        const near = new Set(idsOf(await pair.store.nearest(vector, filter, 10, signal)))
        found += idsOf(pair.oracle.nearest(vector, filter, 10)).filter((id) => near.has(id)).length
      }
      expect(found / 300).toBeGreaterThanOrEqual(0.98)
    })
  })

  it('leaves out an entry that the engine does not take, also as it was before', async () => {
    const faults: unknown[] = []
    const index = createElasticIndex({ ...engine(), onError: (fault) => faults.push(fault) })
    await fill(index, [documentOf({ id: 'a', name: 'Heron' }), documentOf({ id: 'b', name: 'Heron' })])
    const document = documentOf({ id: 'a', name: 'Heron', license: 'x'.repeat(40_000) })
    await index.apply([{ id: 'a', document }], 2)
    expect((await ask(index, { text: 'heron' })).hits.map(({ id }) => id)).toEqual(['b'])
    expect([faults.length, index.applied_revision]).toEqual([1, 2])
  })

  it('keeps the latest of the changes that several nodes write, in whatever order', async () => {
    const { location, ...others } = engine()
    const [slow, fast] = [1, 2].map(() => createElasticIndex({ location, ...others })) as [
      SearchIndex,
      SearchIndex,
    ]
    const put = (name: string) => [{ id: 'a', document: documentOf({ id: 'a', name }) }]
    await fast.apply(put('Heron'), 1)
    await slow.apply(put('Heron'), 1)
    await fast.apply(put('Swan'), 2)
    await fast.apply([...put('Stork'), { id: 'b', document: null }], 4)
    await slow.apply(put('Swan'), 3)
    expect(slow.applied_revision).toBe(4)
    for (const index of [slow, fast]) {
      expect((await ask(index, { text: 'stork' })).total).toBe(1)
      expect((await ask(index, { text: 'swan' })).total).toBe(0)
    }
  })

  describe.each([1, 3])('beside the index in memory, in %i shards', (shards) => {
    const topics = ['weather', 'forecast', 'mail', 'letter', 'price', 'stocks', 'umbrella', 'Grafana']
    const documents = Array.from({ length: 600 }, (_, at) =>
      documentOf({
        id: `${at}`,
        name: `${topics[at % 8]} ${at % 7}`,
        package_name: `com.example.p${at}`,
        description: `${topics[at % 5]} agent ${'of many words '.repeat(at % 11)}`,
        category: at % 3 === 0 ? 'red' : 'blue',
        tags: at % 4 === 0 ? ['even'] : [],
        state: at % 10 === 0 ? 'STAGE' : 'ACTIVE',
        created_at: new Date(Date.UTC(2026, 0, 1 + (at % 50))).toISOString(),
        capabilities: [{ name: `act_${topics[at % 6]}`, description: `${topics[at % 4]}` }],
      }),
    )
    let near: SearchIndex
    let far: SearchIndex
    beforeAll(async () => {
      const { embedder } = tinyEmbedder()
      const vectors = plainVectors()
      const meaning = createMeaning(embedder, vectors)
      const options = { meaning: () => meaning, onError: (fault: unknown) => console.error(fault) }
      for (const document of documents) {
        const texts = await embedder.embed(documentTexts(document), 'document', new AbortController().signal)
        const entry = { attributes: document, vectors: documentVectors(texts.map(({ vector }) => vector)) }
        await vectors.apply([{ id: document.id, entry }], 1)
      }
      near = await fill(createMemoryIndex(options), documents)
      far = createElasticIndex({ ...engine('kept-', shards), ...options })
      await fill(far, documents)
    })

    const filter = { state: 'ACTIVE' } as const
    const everything = 'weather forecast mail letter price'
    const both = (query: Partial<IndexQuery>) =>
      Promise.all([near, far].map((index) => ask(index, { filter, limit: 20, ...query })))

    it.each<[string, Partial<IndexQuery>]>([
      ['many words', { text: 'weather forecast agent' }],
      ['a rare word', { text: 'umbrella price' }],
      ['a filter', { text: 'weather', filter: { state: 'ACTIVE', category: 'red', tags: ['even'] } }],
      ['what a query excludes', { text: 'weather agent but not mail' }],
      ['a name', { text: 'weather 3' }],
      ['a misspelt word', { text: 'send lettter' }],
      ['a word in two pieces', { text: 'fore cast' }],
      ['a misspelt word that the index alone has', { text: 'grafanna price' }],
      ['a score', { text: 'mail', min_score: 0.2 }],
      ['words only', { text: 'mail letter', words_only: true }],
      ['exact words', { text: 'lettter', exact: true }],
    ])('finds the same, with the same reasons: %s', async (_, query) => {
      const [expected, found] = await both(query)
      const round = (hits: Hits | undefined) =>
        JSON.parse(
          JSON.stringify(hits?.hits ?? null, (_, value) =>
            typeof value === 'number' ? Number(value.toFixed(6)) : value,
          ),
        )
      expect(round(found)).toEqual(round(expected))
      expect(found?.corrected).toEqual(expected?.corrected)
    })

    it('counts all that match, however many more there are than candidates', async () => {
      for (const text of [undefined, everything, 'weather mail', 'umbrella']) {
        const [expected, found] = await both({ ...(text && { text }), facets: true })
        expect(found).toMatchObject({ total: expected?.total, facets: expected?.facets })
      }
    })

    it.each<Sort>(['newest', 'name'])('has all pages of a text and of a list, sorted by %s', async (sort) => {
      for (const text of [{}, { text: everything }]) {
        const query = { ...text, sort, filter, limit: 70 }
        const pages = async (index: SearchIndex) => {
          const ids: string[] = []
          for (let page = await ask(index, query); page.hits.length > 0; ) {
            ids.push(...page.hits.map(({ id }) => id))
            page = await ask(index, { ...query, after: page.hits.at(-1)!.position })
          }
          return ids
        }
        const expected = await pages(near)
        expect(expected).toHaveLength(540)
        expect(await pages(far)).toEqual(expected)
      }
    })

    it('corrects words to those of the index', async () => {
      expect((await ask(far, { text: 'grafanna price', filter })).corrected).toEqual([
        { from: 'grafanna', to: 'grafana' },
      ])
    })

    it('ends the pages of a text by relevance after the best candidates', async () => {
      const found = await walk(far, { text: everything, filter }, 50)
      expect(found.slice(0, 100)).toEqual((await walk(near, { text: everything, filter }, 50)).slice(0, 100))
      expect(new Set(found).size).toBe(found.length)
    })

    it('completes names alike', async () => {
      for (const text of ['wea', 'g', 'com.example.p12', 'rella', 'mail 2', '   '])
        expect(await far.complete(text, 10)).toEqual(await near.complete(text, 10))
    })
  })

  describe('gateways', () => {
    const publish = (gateway: TestGateway, package_name: string, description: string, ...tags: string[]) =>
      list(gateway, { package_name, description, tags, capabilities: [{ name: 'act', description }] })
    const find = async (gateway: TestGateway, query: string, token?: string) =>
      await gateway.request('GET', `/public/agents?${query}`, { token })
    const namesOf = ({ json }: Awaited<ReturnType<typeof find>>) =>
      json.agents.map((agent: { package_name: string }) => agent.package_name)
    const settingOf = (port: number, index = nextIndex()) => ({
      DRAGOMAN_SEARCH: `elasticsearch+http://127.0.0.1:${port}/${index}`,
    })
    const portOf = (origin: string) => Number(new URL(origin).port)

    it.skipIf(!postgresFolder)(
      'over one database find by words and meaning what either publishes',
      async () => {
        await using postgres = await startPostgres()
        await using folder = await temporaryFolder()
        const settings = {
          DATABASE_URL: await postgres.createDatabase(),
          ...settingOf(portOf(server.origin)),
        }
        const [here, there] = [join(folder.path, 'here'), join(folder.path, 'there')]
        await using first = await startGateway({ ...settings, DRAGOMAN_DATA: here })
        await cp(join(here, 'keys'), join(there, 'keys'), { recursive: true })
        await using second = await startGateway({ ...settings, DRAGOMAN_DATA: there })
        const token = await first.token('owner')
        await publish(first, 'com.example.rain', 'Forecasts of precipitation', 'sky')
        await publish(second, 'com.example.train', 'Train departures', 'rail')
        for (const gateway of [first, second]) {
          expect(namesOf(await find(gateway, 'q=precipitation', token))[0]).toBe('com.example.rain')
          const byMeaning = await find(gateway, 'q=railway%20timetable&tags=rail&facets=true', token)
          expect(byMeaning.json).toMatchObject({
            agents: [{ package_name: 'com.example.train' }],
            total: 1,
            facets: { tags: { rail: 1 } },
          })
          expect(byMeaning.json.agents[0].match.similarity).toBeGreaterThan(0.2)
          expect(byMeaning.json).not.toHaveProperty('degraded')
          expect((await find(gateway, 'q=precipitaton', token)).json.corrected).toEqual([
            { from: 'precipitaton', to: 'precipitation' },
          ])
          const { json } = await gateway.request('GET', '/public/suggest?q=com.example.r')
          expect(json.suggestions).toEqual([expect.objectContaining({ package_name: 'com.example.rain' })])
        }
      },
    )

    it('answer that search is not available while the engine is away, and lose nothing', async () => {
      await using engine = await startSwitch(portOf(server.origin))
      await using gateway = await startGateway(settingOf(engine.port))
      await publish(gateway, 'com.example.before', 'Zebra crossings')
      expect(namesOf(await find(gateway, 'q=zebra'))).toEqual(['com.example.before'])
      engine.state = 'away'
      await publish(gateway, 'com.example.later', 'Zebra stripes')
      for (const query of ['q=zebra', 'limit=1']) {
        const { status, json, headers } = await find(gateway, query)
        expect([status, json.code, json.detail]).toEqual([
          503,
          'unavailable',
          'The search engine does not answer.',
        ])
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect((await gateway.request('GET', '/public/agents/com.example.later')).status).toBe(200)
      expect((await gateway.request('GET', '/public/agents/com.example.none')).status).toBe(404)
      engine.state = 'here'
      await vi.waitFor(async () => {
        const found = await find(gateway, 'q=zebra')
        expect(namesOf(found).sort()).toEqual(['com.example.before', 'com.example.later'])
        expect(found.json).not.toHaveProperty('degraded')
      }, soon)
    })

    it('and commands sign in to the engine, and show its address without the password', async () => {
      await using engine = await startSwitch(portOf(server.origin))
      await using folder = await temporaryFolder()
      const { DRAGOMAN_SEARCH } = settingOf(engine.port)
      const environment = {
        DRAGOMAN_DATA: folder.path,
        DRAGOMAN_SEARCH: DRAGOMAN_SEARCH.replace('127.0.0.1', 'ada:hush%2Dhush@127.0.0.1'),
      }
      const found = await run(['search', 'wiki', '--json'], environment)
      expect(JSON.parse(found.stdout).agents[0].package_name).toBe('svc.utility.wiki')
      expect(engine.authorization).toBe(`Basic ${Buffer.from('ada:hush-hush').toString('base64')}`)
      const { code, stdout } = await run(['doctor'], environment)
      expect([code, stdout]).toEqual([0, expect.stringContaining(`DRAGOMAN_SEARCH=${DRAGOMAN_SEARCH}`)])
      engine.state = 'away'
      const failed = await run(['doctor'], environment)
      expect(failed.code).toBe(1)
      expect(failed.stdout).toContain('The search engine does not answer.')
    })

    it('start while the engine is away', async () => {
      await using engine = await startSwitch(portOf(server.origin))
      engine.state = 'away'
      await using gateway = await startGateway(settingOf(engine.port))
      expect((await find(gateway, 'q=zebra')).status).toBe(503)
      expect((await gateway.request('GET', '/public/agents/svc.registry')).status).toBe(200)
      engine.state = 'here'
      await vi.waitFor(async () => {
        expect(namesOf(await find(gateway, 'q=svc.registry'))[0]).toBe('svc.registry')
      }, soon)
    })

    it('tell callers nothing of an engine that refuses them', async () => {
      await using engine = await startSwitch(portOf(server.origin))
      await using gateway = await startGateway(settingOf(engine.port))
      engine.state = 'refusing'
      const { status, json, text } = await find(gateway, 'q=zebra')
      expect([status, json.detail]).toEqual([503, 'The search engine refuses requests now.'])
      expect(text).not.toMatch(/authenticate|secret-index/)
    })

    it('give up a search that takes too long', async () => {
      await using engine = await startSwitch(portOf(server.origin))
      await using gateway = await startGateway(settingOf(engine.port))
      // A search waits for a start that is not over.
      await gateway.gateway.ready
      engine.state = 'slow'
      // On a busy machine the deadline of the request comes first.
      expect((await find(gateway, 'q=zebra')).json.code).toMatch(/^(unavailable|deadline_exceeded)$/)
    })

    it('say that answers are outdated while the engine takes no changes', async () => {
      const index = nextIndex()
      await using gateway = await startGateway(settingOf(portOf(server.origin), index))
      await publish(gateway, 'com.example.before', 'Zebra crossings')
      const block = (value: boolean | null) =>
        send('PUT', `${index}-*/_settings`, { 'index.blocks.read_only_allow_delete': value })
      await block(true)
      await publish(gateway, 'com.example.later', 'Zebra stripes')
      const { json } = await find(gateway, 'q=zebra')
      expect(json).toMatchObject({ agents: [{ package_name: 'com.example.before' }] })
      expect(json.degraded).toMatch(/cannot be brought up to date/)
      await block(null)
      await vi.waitFor(async () => {
        const found = await find(gateway, 'q=zebra')
        expect(namesOf(found).sort()).toEqual(['com.example.before', 'com.example.later'])
        expect(found.json).not.toHaveProperty('degraded')
      }, soon)
    })

    it('fill a deleted index again', async () => {
      const index = nextIndex()
      await using gateway = await startGateway(settingOf(portOf(server.origin), index))
      await publish(gateway, 'com.example.before', 'Zebra crossings')
      await send('DELETE', `${index}-*`)
      expect((await find(gateway, 'q=zebra')).status).toBe(503)
      await vi.waitFor(async () => {
        const { json } = await find(gateway, 'q=zebra')
        expect(json.agents[0]).toMatchObject({ package_name: 'com.example.before' })
        expect(json.agents[0].match.similarity).toEqual(expect.any(Number))
      }, soon)
    })

    it('fill an index again after their store has lost changes, and find nothing that was lost', async () => {
      await using folder = await temporaryFolder()
      await using stack = new AsyncDisposableStack()
      const path = (name: string) => join(folder.path, name)
      const write = (store: Store, name: string) =>
        store.write(async (writer) => void (await writer.put(sampleEntry({ name, state: 'ACTIVE' }))))
      let store: Store = stack.use(await openSqliteStore(path('primary')))
      const seen = currentStore(() => store)
      const shared = {
        ...engine(),
        originAt: (revision: number) => storeAt(seen, '', revision),
        latest: () => seen.read.latest(),
      }
      await write(store, 'Yak')
      new DatabaseSync(path('primary')).exec(`vacuum into '${path('replica')}'`)
      for (const name of ['Zebra', 'Quagga']) await write(store, name)
      const nodes = Array.from({ length: 2 }, () => {
        const losses: string[] = []
        const index = stack.use(
          createElasticIndex({ ...shared, onError: (fault) => losses.push(String(fault)) }),
        )
        const follower = stack.use(
          new IndexTailer(seen, index, (fault) => losses.push(String(fault)), {
            onEntryFault: 'wait',
            waits: 'without fault',
            onLost: () => losses.push('lost'),
          }),
        )
        return { index, follower, losses }
      })
      for (const { follower } of nodes) await follower.filled
      const found = async (text: string) =>
        await Promise.all(nodes.map(async ({ index }) => (await ask(index, { text, filter: {} })).total))
      expect(await found('zebra')).toEqual([1, 1])
      store = stack.use(await openSqliteStore(path('replica')))
      await write(store, 'Wombat')
      for (const { follower } of nodes) void follower.caughtUp(9)
      await vi.waitFor(async () => {
        // A node that writes to the index that the other replaces fails once. The next commit would wake its follower.
        for (const { follower } of nodes) await follower.caughtUp(2)
        expect(nodes.map(({ follower }) => [follower.applied_revision, follower.is_failing])).toEqual([
          [2, false],
          [2, false],
        ])
      }, soon)
      for (const name of ['wombat', 'yak']) expect(await found(name)).toEqual([1, 1])
      for (const name of ['zebra', 'quagga']) expect(await found(name)).toEqual([0, 0])
      for (const { losses } of nodes) expect(losses).toContain('lost')
    })

    it('that start over a restored database fill the index again, and say that changes are missing', async () => {
      await using folder = await temporaryFolder()
      const settings = {
        DRAGOMAN_DATA: join(folder.path, 'data'),
        ...settingOf(portOf(server.origin)),
      }
      const database = join(settings.DRAGOMAN_DATA, 'registry.sqlite')
      const backup = join(folder.path, 'backup.sqlite')
      {
        await using gateway = await startGateway(settings)
        await publish(gateway, 'com.example.before', 'Zebra crossings')
        await gateway.gateway.ready
      }
      await cp(database, backup)
      {
        await using gateway = await startGateway(settings)
        await publish(gateway, 'com.example.lost', 'Zebra stripes')
        await vi.waitFor(async () => expect(namesOf(await find(gateway, 'q=zebra'))).toHaveLength(2), soon)
      }
      await cp(backup, database)
      {
        await using gateway = await startGateway(settings)
        await vi.waitFor(async () => {
          const found = await find(gateway, 'q=zebra')
          expect(namesOf(found)).toEqual(['com.example.before'])
          expect(found.json).not.toHaveProperty('degraded')
        }, soon)
        expect((await gateway.request('GET', '/readyz')).json).toMatchObject({
          status: 'degraded',
          reasons: ['store_behind_index'],
        })
      }
      await using gateway = await startGateway(settings)
      await gateway.gateway.ready
      expect((await gateway.request('GET', '/readyz')).json).toMatchObject({ status: 'ready', reasons: [] })
    })

    describe('rebuild their index by one command', () => {
      const rebuild = (settings: Record<string, string>) =>
        start(process.execPath, [command, 'index', 'rebuild', '--json'], settings)
      /** The indexes of a registry, and those of them that serve. */
      const indexesOf = async (index: string) => {
        const aliases = (await (await send('GET', `${index}-*/_alias`)).json()) as Record<
          string,
          { aliases: Record<string, unknown> }
        >
        const all = Object.keys(aliases).sort()
        return { all, serving: all.filter((each) => each.replace(/\.\d+$/, '') in aliases[each]!.aliases) }
      }
      const numbers = (indexes: readonly string[]) => indexes.map((each) => each.replace(/^.*\./, ''))

      it('while they serve, and miss nothing that is published meanwhile', async () => {
        const index = nextIndex()
        await using engine = await startSwitch(portOf(server.origin))
        await using gateway = await startGateway(settingOf(portOf(server.origin), index))
        await publish(gateway, 'com.example.before', 'Zebra crossings')
        const held = engine.hold(/_aliases$/)
        const settings = { DRAGOMAN_DATA: gateway.data, ...settingOf(engine.port, index) }
        await using first = rebuild(settings)
        await held.begun
        await publish(gateway, 'com.example.later', 'Zebra stripes')
        await vi.waitFor(async () => {
          const found = await find(gateway, 'q=zebra')
          expect([namesOf(found).length, found.json.degraded]).toEqual([2, undefined])
        }, soon)
        await using second = rebuild(settings)
        const refused = await second.ended
        expect([refused.code, JSON.parse(refused.stderr).code]).toEqual([1, 'conflict'])
        held.release()
        const { code, stdout } = await first.ended
        expect([code, JSON.parse(stdout)]).toEqual([0, { revision: expect.any(Number) }])
        const { all, serving } = await indexesOf(index)
        expect([all, numbers(all)]).toEqual([serving, ['2', '2']])
        await publish(gateway, 'com.example.last', 'Zebra herds')
        await vi.waitFor(async () => {
          const { json } = await find(gateway, 'q=zebra')
          expect(json).toMatchObject({ total: 3 })
          expect(json).not.toHaveProperty('degraded')
          expect(json.agents[0].match.similarity).toEqual(expect.any(Number))
        }, soon)
      })

      it('and keep the old one where the command is killed, of which nothing is left', async () => {
        const index = nextIndex()
        await using engine = await startSwitch(portOf(server.origin))
        await using gateway = await startGateway(settingOf(portOf(server.origin), index))
        await publish(gateway, 'com.example.before', 'Zebra crossings')
        const before = await indexesOf(index)
        const held = engine.hold(/_aliases$/)
        const settings = { DRAGOMAN_DATA: gateway.data, ...settingOf(engine.port, index) }
        await using rebuilding = rebuild(settings)
        await held.begun
        rebuilding.process.kill('SIGKILL')
        await rebuilding.ended
        const left = await indexesOf(index)
        expect([left.serving, left.all.length]).toEqual([before.all, 4])
        const { sweep, store } = gateway.gateway
        await sweep.run()
        // Whoever was killed holds its lease for some seconds.
        expect((await indexesOf(index)).all).toEqual(left.all)
        await expect
          .poll(() => store.leases.take('search_index_rebuild', 'test', Date.now(), Date.now() + 1), soon)
          .toBe(true)
        await sweep.run()
        expect((await indexesOf(index)).all).toEqual(before.all)
        expect(namesOf(await find(gateway, 'q=zebra'))).toEqual(['com.example.before'])
      })

      it('unless their index is in memory', async () => {
        await using folder = await temporaryFolder()
        const { code, stderr } = await run(['index', 'rebuild', '--json'], { DRAGOMAN_DATA: folder.path })
        expect([code, JSON.parse(stderr).code]).toEqual([2, 'invalid_request'])
      })
    })

    it('keep their index from one start to the next, and make that of another registry anew', async () => {
      const index = nextIndex()
      const settings = settingOf(portOf(server.origin), index)
      const made = async () => (await send('GET', `_cat/indices/${index}-*?h=uuid&s=uuid`)).text()
      let first = ''
      await using folder = await temporaryFolder()
      const own = { ...settings, DRAGOMAN_DATA: join(folder.path, 'own') }
      {
        await using gateway = await startGateway(own)
        await publish(gateway, 'com.example.own', 'Zebras')
      }
      {
        first = await made()
        await using again = await startGateway(own)
        expect(namesOf(await find(again, 'q=zebras'))).toEqual(['com.example.own'])
        expect(await made()).toBe(first)
      }
      await using other = await startGateway({ ...settings, DRAGOMAN_DATA: join(folder.path, 'other') })
      expect((await find(other, 'q=zebras')).json).toMatchObject({ agents: [], total: 0 })
      expect(namesOf(await find(other, 'q=svc.registry'))[0]).toBe('svc.registry')
    })
  })
})

/** Without PostgreSQL or gateways: the index of a registry that has only revisions. */
function engineAt(url: string, index: string, shards = 1) {
  const { fetch } = createSafeFetch({ user_agent: 'test', allow_origins: [url] })
  const originAt = async (revision: number) => `${revision}`
  const onError = (fault: unknown) => console.error(fault)
  const latest = async () => Number.MAX_SAFE_INTEGER
  return { location: { url, index, shards }, fetch, originAt, latest, onError }
}

/** An HTTP proxy before the engine that can be away or not answer. */
async function startSwitch(target: number) {
  const proxy = {
    port: 0,
    state: 'here' as 'here' | 'away' | 'slow' | 'refusing',
    authorization: undefined as string | undefined,
    held: undefined as { readonly path: RegExp; begin(): void; readonly end: Promise<void> } | undefined,
    /** Requests for such a path wait from now on until they are released; `begun` resolves at the first. */
    hold(path: RegExp) {
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      proxy.held = { path, begin: begun.resolve, end: end.promise }
      return { begun: begun.promise, release: end.resolve }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (incoming, answer) => {
    if (proxy.held?.path.test(incoming.url ?? '')) {
      proxy.held.begin()
      await proxy.held.end
    }
    if (proxy.state === 'away') return void incoming.socket.destroy()
    if (proxy.state === 'slow') return
    if (proxy.state === 'refusing') {
      const reason = 'unable to authenticate user [ada] for [/secret-index/_search]'
      answer.writeHead(401, { 'content-type': 'application/json' })
      return void answer.end(JSON.stringify({ error: { type: 'security_exception', reason } }))
    }
    const { method, url, headers } = incoming
    proxy.authorization = headers.authorization
    const outgoing = request({ host: '127.0.0.1', port: target, method, path: url, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers)
      found.pipe(answer)
    })
    outgoing.on('error', () => answer.destroy())
    incoming.pipe(outgoing)
  })
  proxy.port = await listen(server, { host: '127.0.0.1', port: 0, hint: '' })
  return proxy
}
