import { describe, expect, it } from 'vitest'
import type { Callable } from '../../schemas/callable.ts'
import type { SearchDocument, SearchIndex } from '../../src/search/search-index.ts'
import { ask, documentOf, fill, walk } from './support/documents.ts'

const ids = (hits: { hits: readonly { id: string }[] }) => hits.hits.map((hit) => hit.id)

/** What every index does. `open` gives an empty one. */
export function searchIndexContract(name: string, open: () => Promise<SearchIndex>): void {
  const indexOf = async (documents: readonly SearchDocument[]) => fill(await open(), documents)

  describe(`an index: ${name}`, () => {
    describe('finding', () => {
      it('ranks a word in the name before the same word in the description', async () => {
        const index = await indexOf([
          documentOf({ id: 'described', name: 'Thing', description: 'weather' }),
          documentOf({ id: 'named', name: 'Weather', description: 'thing' }),
        ])
        expect(ids(await ask(index, { text: 'weather now' }))).toEqual(['named', 'described'])
      })

      it('finds an entry by its capabilities and tags', async () => {
        const index = await indexOf([
          documentOf({ id: 'tagged', tags: ['astronomy'] }),
          documentOf({
            id: 'capable',
            capabilities: [{ name: 'convert_currency', description: 'by ECB rates' }],
          }),
        ])
        expect(ids(await ask(index, { text: 'Astronomy' }))).toEqual(['tagged'])
        expect(ids(await ask(index, { text: 'currencies' }))).toEqual(['capable'])
        expect(ids(await ask(index, { text: 'ecb rate' }))).toEqual(['capable'])
      })

      it('takes no registry, top-level domain or code host in a package name for a word of the agent', async () => {
        const index = await indexOf([
          documentOf({ id: 'about', name: 'Package Info', package_name: 'pypi.pypi-query' }),
          documentOf({ id: 'ledger', name: 'Ledger', package_name: 'pypi.acme/ledger' }),
          documentOf({ id: 'git', name: 'io.github.acme/kite', package_name: 'io.github.acme/kite' }),
        ])
        expect(ids(await ask(index, { text: 'pypi' }))).toEqual(['about'])
        for (const text of ['github', 'io']) expect(ids(await ask(index, { text }))).toEqual([])
        expect(ids(await ask(index, { text: 'acme' })).sort()).toEqual(['git', 'ledger'])
        expect(ids(await ask(index, { text: 'kite' }))).toEqual(['git'])
      })

      it('ranks who converts, by their name, out of what is wanted or into what is there behind the others', async () => {
        const index = await indexOf([
          documentOf({ id: 'away', name: 'PDF to PNG', description: 'convert docx, pdf, docx and pdf' }),
          documentOf({ id: 'back', name: 'HTML to docx', description: 'convert docx, pdf, docx and pdf' }),
          documentOf({ id: 'right', name: 'Converter', description: 'docx files, and pdf files' }),
        ])
        expect(ids(await ask(index, { text: 'convert docx to pdf' }))[0]).toBe('right')
      })

      it('shows one entry of each product of a query among the first three, on pages of any length', async () => {
        const numbers = Array.from({ length: 9 }, (_, at) => at)
        const index = await indexOf([
          ...numbers
            .slice(0, 4)
            .map((at) => documentOf({ id: `sheets ${at}`, name: `Google Sheets ${'plus '.repeat(at)}` })),
          documentOf({
            id: 'notion',
            name: 'Notion for the pages of a team, with its notes and all it plans',
          }),
          documentOf({
            id: 'other',
            name: 'com.notion/google-sheets',
            package_name: 'com.notion/google-sheets',
          }),
          ...numbers.map((at) => documentOf({ id: `${at}`, name: 'Pages', description: 'notion' })),
        ])
        for (const text of ['from notion to google sheets', 'sheets of sheets in notion']) {
          const found = ids(await ask(index, { text }))
          expect(found.indexOf('notion')).toBe(2)
          expect(await walk(index, { text }, 1)).toEqual(found)
        }
        expect(ids(await ask(index, { text: 'google sheets' })).slice(0, 5)).not.toContain('notion')
      })

      it('finds an entry by its category, publisher and licence', async () => {
        const labels = { category: 'travel-transportation', publisher: 'rail.example', license: 'apache-2.0' }
        const index = await indexOf([documentOf({ id: 'a', ...labels }), documentOf({ id: 'b' })])
        for (const text of ['transportation', 'rail', 'apache']) {
          expect(ids(await ask(index, { text }))).toEqual(['a'])
        }
      })

      it.each(['Send', 'com.example.exact', 'COM.example.EXACT', 'send'])(
        'ranks the entry named exactly %s first, whatever others repeat',
        async (text) => {
          const spam = { name: 'Send send', description: 'send com example exact '.repeat(50) }
          const index = await indexOf([
            documentOf({ id: 'one', ...spam }),
            documentOf({
              id: 'exact',
              name: 'Send',
              package_name: 'com.example.exact',
              description: 'word '.repeat(500),
            }),
            documentOf({ id: 'two', ...spam }),
          ])
          expect(ids(await ask(index, { text }))[0]).toBe('exact')
        },
      )

      it.each(['com.example', 'com.example.*', 'COM.Example/'])(
        'ranks all that is in the namespace %s first, and nothing beside it',
        async (text) => {
          const index = await indexOf([
            documentOf({ id: 'other', package_name: 'org.other', description: 'com example '.repeat(20) }),
            documentOf({ id: 'beside', name: 'Beside', package_name: 'com.examples.beside' }),
            documentOf({ id: 'dot', name: 'Dot', package_name: 'com.example.deep.dot' }),
            documentOf({ id: 'slash', name: 'Slash', package_name: 'com.example/slash' }),
          ])
          expect(new Set(ids(await ask(index, { text })).slice(0, 2))).toEqual(new Set(['dot', 'slash']))
        },
      )

      it('gives no entry the rank of an exact name for a longer name below it', async () => {
        const index = await indexOf([
          documentOf({ id: 'below', name: 'Sun', package_name: 'com.example.sun.com.example.sun' }),
          documentOf({ id: 'exact', name: 'Star', package_name: 'com.example.sun' }),
        ])
        const { hits } = await ask(index, { text: 'com.example.sun' })
        expect(hits.map(({ id, score }) => [id, score > 1])).toEqual([
          ['exact', true],
          ['below', false],
        ])
      })

      it('finds a name under no domain by whose it is, and no name by its top-level domain', async () => {
        const index = await indexOf([
          documentOf({ id: 'acme', name: 'Mail', package_name: 'acme.mail' }),
          documentOf({ id: 'io', name: 'Post', package_name: 'io.post' }),
        ])
        expect(ids(await ask(index, { text: 'acme' }))).toEqual(['acme'])
        expect(ids(await ask(index, { text: 'io' }))).toEqual([])
      })

      it('finds a name without any letters', async () => {
        const index = await indexOf([documentOf({ id: 'a', name: '☂' }), documentOf({ id: 'b' })])
        for (const sort of ['relevance', 'newest'] as const) {
          expect(await ask(index, { text: ' ☂ ', sort })).toMatchObject({
            hits: [{ id: 'a', score: 1 }],
            total: 1,
          })
        }
        expect(await ask(index, { text: '☀' })).toMatchObject({ hits: [], total: 0 })
      })

      it('finds nothing by stop words alone, except an exact name', async () => {
        const index = await indexOf([
          documentOf({ id: 'a', description: 'Find me' }),
          documentOf({ id: 'b', name: 'Find me' }),
        ])
        expect(ids(await ask(index, { text: 'find me a tool' }))).toEqual([])
        const { hits } = await ask(index, { text: 'find me' })
        expect(hits).toMatchObject([{ id: 'b', score: 1 }])
      })

      it.each([
        ['mcp-server-time', 'pypi.mcp-server-time'],
        ['cyanheads/pubmed-mcp', 'npm.cyanheads/pubmed-mcp'],
        ['@cyanheads/pubmed-mcp', 'npm.cyanheads/pubmed-mcp'],
        ['pubmed-mcp', 'npm.cyanheads/pubmed-mcp'],
        ['npm.cyanheads/pubmed-mcp', 'npm.cyanheads/pubmed-mcp'],
      ])('finds %s first, which a registry calls so', async (text, package_name) => {
        const others = ['time', 'server', 'pubmed', 'mcp'].map((word) =>
          documentOf({
            id: word,
            name: `MCP ${word} server, pubmed, time`,
            package_name: `com.example.${word}`,
          }),
        )
        const meant = documentOf({ id: 'meant', name: 'Another title', package_name })
        const { hits } = await ask(await indexOf([...others, meant]), { text })
        expect(hits[0]?.id).toBe('meant')
        expect(hits[0]?.score).toBeGreaterThan(1)
        expect(hits[0]?.confidence).toBeGreaterThan(0.9)
      })

      it('takes no single word for the name of a package', async () => {
        const slow = documentOf({ id: 'slow', name: 'Waits', package_name: 'npm.sleep' })
        const bed = documentOf({ id: 'bed', name: 'Sleep', description: 'sleep well, sleep long' })
        expect(ids(await ask(await indexOf([slow, bed]), { text: 'sleep' }))[0]).toBe('bed')
      })

      it('finds nothing by the stop words of other languages', async () => {
        const spanish = documentOf({ id: 'travel', description: 'Una agencia para viajes de todo el mundo' })
        const index = await indexOf([spanish, documentOf({ id: 'mail', description: 'Sends an email' })])
        for (const text of [
          'necesito una herramienta para el email',
          'ich brauche etwas für email',
          'помоги мне email',
        ])
          expect(ids(await ask(index, { text }))).toEqual(['mail'])
        expect(ids(await ask(index, { text: 'viajes' }))).toEqual(['travel'])
      })

      it('orders the matches of a text by date or name on request', async () => {
        const index = await indexOf([
          documentOf({ id: 'old', name: 'Alpha', description: 'mail', created_at: '2025-01-01T00:00:00Z' }),
          documentOf({ id: 'new', name: 'Beta', description: 'mail', created_at: '2026-01-01T00:00:00Z' }),
          documentOf({ id: 'other', name: 'Aaa' }),
        ])
        expect(ids(await ask(index, { text: 'mail', sort: 'newest' }))).toEqual(['new', 'old'])
        expect(ids(await ask(index, { text: 'mail', sort: 'name' }))).toEqual(['old', 'new'])
      })

      it('explains a hit: the words as typed, the best capability, the lexical score', async () => {
        const index = await indexOf([
          documentOf({
            id: 'a',
            name: 'Mailer',
            capabilities: [
              { name: 'list_folders', description: 'Mail folders' },
              { name: 'send_mail', description: 'Sends a mail' },
            ],
          }),
        ])
        const { hits } = await ask(index, { text: 'Sending MAILS to Paris' })
        const { score } = hits[0]!
        expect(hits[0]!.why).toEqual({
          terms: ['sending', 'mails'],
          capability: 'send_mail',
          similarity: null,
          scores: { lexical: score, coverage: expect.closeTo(0.293) },
        })
      })

      it('is confident of what has the words of a query and of an exact name, not of what has a common word', async () => {
        const index = await indexOf([
          documentOf({ id: 'rail', name: 'Rail', description: 'train times and tickets' }),
          ...Array.from({ length: 20 }, (_, at) =>
            documentOf({ id: `${at}`, description: 'times and things' }),
          ),
        ])
        const confidenceOf = async (text: string) => {
          const { hits, confidence } = await ask(index, { text, limit: 1 })
          expect(confidence).toBeGreaterThanOrEqual(hits[0]?.confidence ?? 0)
          return hits[0]?.confidence ?? 0
        }
        expect(await confidenceOf('train tickets')).toBeGreaterThan(0.9)
        expect(await confidenceOf('Rail')).toBeGreaterThan(0.9)
        expect(await confidenceOf('times of unheard purple elephants')).toBeLessThan(0.25)
        expect((await ask(index, { text: 'elephants' })).confidence).toBe(0)
        expect(await ask(index, {})).not.toHaveProperty('confidence')
      })

      it('names the first of equally good capabilities, and none that does not match', async () => {
        const capability = (name: string, description: string) => ({ name, description })
        const index = await indexOf([
          documentOf({
            id: 'a',
            capabilities: [capability('ping', ''), capability('one', 'Mails'), capability('two', 'Mails')],
          }),
          documentOf({ id: 'b', name: 'Mail', capabilities: [capability('ping', '')] }),
        ])
        const { hits } = await ask(index, { text: 'mail', sort: 'newest' })
        expect(hits.map((hit) => [hit.id, hit.why.capability])).toEqual([
          ['b', null],
          ['a', 'one'],
        ])
      })

      it('gives an exact name the same bonus whether or not a hidden entry has the other words', async () => {
        const named = documentOf({ id: 'a', name: 'Mail' })
        const hidden = documentOf({ id: 'b', state: 'STAGE', description: 'secret' })
        // Only the first 300 characters are compared with names.
        const query = { text: `mail${' '.repeat(300)}secret`, filter: { state: 'ACTIVE' } } as const
        const without = await ask(await indexOf([named]), query)
        expect(await ask(await indexOf([named, hidden]), query)).toEqual(without)
        expect(without.hits[0]!.score).toBeGreaterThan(1)
      })

      it('orders equals by verification, liveness, use and name, never by their ids, also from page to page', async () => {
        const equals: readonly Partial<SearchDocument>[] = [
          {
            verification_level: 'domain_verified',
            callable: 'no',
            liveness: 'alive',
            package_name: 'z.mail',
          },
          {
            verification_level: 'unverified',
            callable: 'needs_key',
            liveness: 'alive',
            package_name: 'y.mail',
          },
          { verification_level: 'unverified', callable: 'open', package_name: 'x.mail' },
          { callable: 'open', package_name: 'w.mail' },
          { callable: 'needs_key', package_name: 'a.mail' },
          { callable: 'needs_key', package_name: 'b.mail' },
        ]
        const index = await indexOf(
          equals.map((fields, at) => documentOf({ id: `${9 - at}`, name: 'Mail', owner: 'ann', ...fields })),
        )
        const order = equals.map((_, at) => `${9 - at}`)
        for (const sort of ['newest', 'name'] as const)
          for (const limit of [1, 4, 10]) expect(await walk(index, { sort }, limit)).toEqual(order)
      })

      it('orders equal scores by name on every node, also from page to page', async () => {
        const names = ['red', 'blue', 'green', 'pink', 'black', 'white']
        for (const idOf of [(at: number) => `${at}`, (at: number) => `${9 - at}`]) {
          const index = await indexOf(
            names.map((name, at) =>
              documentOf({ id: idOf(at), name: `mail ${name}`, package_name: 'npm.mail' }),
            ),
          )
          const named = [...names].sort().map((name) => idOf(names.indexOf(name)))
          for (const limit of [1, 2, 3, 10])
            expect(await walk(index, { text: 'send mail' }, limit)).toEqual(named)
        }
      })
    })

    describe('listing', () => {
      it('is newest first without a text, by time and not by its notation', async () => {
        const index = await indexOf([
          documentOf({ id: 'a', created_at: '2026-01-01T00:00:00Z' }),
          documentOf({ id: 'b', created_at: '2026-01-01T00:00:00.500Z' }),
          documentOf({ id: 'c', created_at: '2026-01-01T00:00:00Z' }),
        ])
        for (const text of [undefined, '', '  ']) {
          const { hits } = await ask(index, { ...(text !== undefined && { text }), sort: 'relevance' })
          expect(ids({ hits })).toEqual(['b', 'a', 'c'])
          expect(hits[0]).toMatchObject({ score: 0, why: { terms: [], capability: null, scores: {} } })
        }
      })

      it('orders names by code points', async () => {
        const names = ['b', '\u{1F600}', '\uFF01', 'a', 'ab']
        const index = await indexOf(names.map((name, at) => documentOf({ id: String(at), name })))
        const { hits } = await ask(index, { sort: 'name' })
        expect(hits.map((hit) => hit.position.key)).toEqual(['a', 'ab', 'b', '\uFF01', '\u{1F600}'])
      })

      it('counts facets over the whole result, the 50 most frequent, only on request', async () => {
        const documents = Array.from({ length: 60 }, (_, at) =>
          documentOf({
            id: String(at),
            tags: ['all', `tag${at}`],
            category: at < 40 ? 'big' : 'small',
            state: at < 50 ? 'ACTIVE' : 'STAGE',
          }),
        )
        const index = await indexOf(documents)
        const { facets } = await ask(index, { filter: { state: 'ACTIVE' }, limit: 1, facets: true })
        expect(facets).toMatchObject({ categories: { big: 40, small: 10 }, targets: {} })
        expect(Object.keys(facets!.tags)).toHaveLength(50)
        expect(facets!.tags.all).toBe(50)
        expect(await ask(index)).not.toHaveProperty('facets')
      })

      it.each([undefined, 'swan'])(
        'counts what each other choice would find, with the text %s',
        async (text) => {
          const index = await indexOf(
            Array.from({ length: 30 }, (_, at) =>
              documentOf({
                id: String(at),
                name: at % 5 === 0 ? 'heron' : 'swan',
                category: at < 20 ? 'big' : 'small',
                callable: at % 3 === 0 ? 'open' : 'hosted',
                tags: at % 2 === 0 ? ['even', 'all'] : ['all'],
              }),
            ),
          )
          const filter = { category: 'big', callable: ['open'], tags: ['even'] } as const
          const query = { ...(text && { text }), limit: 1, facets: true } as const
          const { facets, total } = await ask(index, { ...query, filter, facet_choices: true })
          for (const [category, count] of Object.entries(facets!.categories)) {
            expect((await ask(index, { ...query, filter: { ...filter, category } })).total).toBe(count)
          }
          for (const [kind, count] of Object.entries(facets!.callable)) {
            const callable = [kind] as Callable[]
            expect((await ask(index, { ...query, filter: { ...filter, callable } })).total).toBe(count)
          }
          expect(Object.keys(facets!.categories)).toEqual(['big', 'small'])
          expect(Object.keys(facets!.callable).sort()).toEqual(['hosted', 'open'])
          expect(facets!.tags).toEqual({ all: total, even: total })
          const narrow = await ask(index, { ...query, filter })
          expect([narrow.total, Object.keys(narrow.facets!.categories)]).toEqual([total, ['big']])
        },
      )

      it('continues after a position whose entry was removed', async () => {
        const index = await indexOf(['a', 'b', 'c'].map((id) => documentOf({ id, name: id })))
        const { hits } = await ask(index, { sort: 'name', limit: 2 })
        await index.apply([{ id: 'b', document: null }], 2)
        expect(ids(await ask(index, { sort: 'name', after: hits[1]!.position }))).toEqual(['c'])
      })
    })

    describe('the index', () => {
      it('states its applied revision', async () => {
        const index = await open()
        expect(index.applied_revision).toBe(0)
        await index.apply([], 7)
        expect(index.applied_revision).toBe(7)
      })

      it('accepts the removal of an unknown entry', async () => {
        const index = await indexOf([documentOf({ id: 'a' })])
        await index.apply([{ id: 'b', document: null }], 2)
        expect((await ask(index)).total).toBe(1)
      })

      it('does no work for an aborted call', async () => {
        const index = await indexOf([documentOf({ id: 'a' })])
        const search = index.search({ filter: {}, limit: 1, sort: 'newest' }, AbortSignal.abort())
        await expect(search).rejects.toThrow(/abort/i)
      })

      it('refuses a position of another sort', async () => {
        const index = await indexOf([documentOf({ id: 'a' })])
        const after = { key: 'a', id: 'a' }
        await expect(ask(index, { sort: 'newest', after })).rejects.toMatchObject({ code: 'invalid_request' })
        await expect(ask(index, { sort: 'relevance', text: 'a', after })).rejects.toThrow('another sort')
        await expect(ask(index, { sort: 'name', after: { key: 1, id: 'a' } })).rejects.toThrow('another sort')
      })
    })
  })
}
