import { describe, expect, test } from 'vitest'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { publishedLists } from '../support/published-lists.ts'
import { admin, openRegistry, person, publication, signal, type TestRegistry } from '../support/registry.ts'

const server = (more: object = {}) =>
  JSON.stringify({
    packageName: '@acme/Mail_Server',
    name: 'Mail',
    description: 'Sends mail.',
    category: 'Communication & Mail',
    url: 'https://github.com/acme/mail',
    runtime: 'node',
    tools: [{ name: 'send', description: 'Sends.' }],
    ...more,
  })
const card = (more: object = {}) =>
  JSON.stringify({
    name: 'Weather/Now',
    description: 'Tells the weather.',
    url: 'https://weather.example.com/a2a',
    wellKnownURI: 'https://weather.example.com/.well-known/agent-card.json',
    capabilities: { streaming: true },
    skills: [{ id: 'now', name: 'Now', description: 'Now.', tags: ['Weather', 'test'] }],
    ...more,
  })
const counts = (report: {
  created: number
  updated: number
  unchanged: number
  rejected: readonly unknown[]
}) => [report.created, report.updated, report.unchanged, report.rejected.length]
const store = (registry: TestRegistry, package_name: string) => registry.store.read.entry({ package_name })

describe('an import', () => {
  test('passes over blank lines, and counts them among the lines of the file', async () => {
    await using registry = await openRegistry()
    const report = await registry.importLines(['', server(), ' \t', '{', ''], 1)
    expect(report).toMatchObject({ created: 1, rejected: [{ line: 4 }] })
  })

  test('says of a publication which command publishes it', async () => {
    await using registry = await openRegistry()
    const { rejected } = await registry.importLines([JSON.stringify(publication('com.example.mine'))], 1)
    expect(rejected).toMatchObject([{ reason: expect.stringContaining('dragoman publish FILE') }])
  })

  test('lists a server as an ACTIVE, unclaimed entry without an owner', async () => {
    await using registry = await openRegistry()
    expect(counts(await registry.importLines([server()], 1))).toEqual([1, 0, 0, 0])
    expect(await registry.get('npm.acme/mail_server', null)).toMatchObject({
      name: 'Mail',
      description: 'Sends mail.',
      state: 'ACTIVE',
      verification_level: 'unclaimed',
      owner: null,
      category: 'communication-mail',
      tags: ['mcp'],
      packages: [{ registry_type: 'npm', identifier: '@acme/Mail_Server' }],
      source_url: 'https://github.com/acme/mail',
      capabilities: [{ name: 'send', description: 'Sends.' }],
      card: { rendered_by: 'custom.svc.registry' },
    })
  })

  test('takes zero-width spaces and byte order marks off the edges of texts, and refuses them within', async () => {
    await using registry = await openRegistry()
    const marked = server({ name: '\uFEFFMail', description: ' \u200BSends mail.\u200B\n' })
    const hiding = server({ packageName: 'hiding', description: 'Sends\u200B mail.' })
    const report = await registry.importLines([`\uFEFF${marked}`, hiding], 1)
    expect(report.rejected).toEqual([{ line: 2, reason: expect.stringContaining('hides characters') }])
    const entry = { name: 'Mail', description: 'Sends mail.' }
    expect(await registry.get('npm.acme/mail_server', null)).toMatchObject(entry)
  })

  test('lists a card under its host, with its own card and without the reserved tag', async () => {
    await using registry = await openRegistry()
    await registry.importLines([card()], 1)
    expect(await registry.get('com.example.weather/weather-now', null)).toMatchObject({
      name: 'Weather/Now',
      tags: ['weather'],
      manifest_url: 'https://weather.example.com/.well-known/agent-card.json',
      source_url: 'https://weather.example.com/a2a',
      endpoints: [{ protocol: 'a2a', url: 'https://weather.example.com/a2a' }],
      card: { wellKnownURI: 'https://weather.example.com/.well-known/agent-card.json' },
    })
  })

  test.each([
    ['node', '@a/b', 'npm.a/b'],
    ['python', 'Some_Tool', 'pypi.some_tool'],
    ['go', 'github.com/a/b', 'go.github.com/a-b'],
    ['node', '--x  y--', 'npm.--x-y'],
  ])('names a %s package %s as %s', async (runtime, packageName, name) => {
    await using registry = await openRegistry()
    const report = await registry.importLines([server({ runtime, packageName })], 1)
    expect(report.rejected).toEqual([])
    expect((await registry.find({})).names).toEqual([name])
  })

  test('again makes no change and takes no revision', async () => {
    await using registry = await openRegistry()
    const lines = [server(), card(), server({ url: 'https://github.com/other/mail' })]
    expect(counts(await registry.importLines(lines, 1))).toEqual([3, 0, 0, 0])
    const before = await registry.store.read.revision()
    expect(counts(await registry.importLines(lines, 1))).toEqual([0, 0, 3, 0])
    expect(await registry.store.read.revision()).toBe(before)
  })

  test('updates what has changed, under the same id', async () => {
    await using registry = await openRegistry()
    await registry.importLines([server(), card()], 1)
    const before = await store(registry, 'npm.acme/mail_server')
    expect(
      counts(await registry.importLines([server({ description: 'Sends all mail.' }), card()], 1)),
    ).toEqual([0, 1, 1, 0])
    const after = await store(registry, 'npm.acme/mail_server')
    expect(after).toMatchObject({
      id: before?.id,
      created_at: before?.created_at,
      description: 'Sends all mail.',
    })
  })

  test('gives a name that another upstream has with -2 and -3 behind it, and finds them again', async () => {
    await using registry = await openRegistry()
    const from = (who: string, more = {}) => server({ url: `https://github.com/${who}/mail`, ...more })
    await registry.importLines([from('a'), from('b'), from('c')], 1)
    const [first, second, third] = await Promise.all(
      ['', '-2', '-3'].map((tail) => store(registry, `npm.acme/mail_server${tail}`)),
    )
    expect([first, second, third].map((entry) => entry?.source_url)).toEqual(
      ['a', 'b', 'c'].map((who) => `https://github.com/${who}/mail`),
    )
    expect(counts(await registry.importLines([from('c'), from('b', { name: 'B' })], 1))).toEqual([0, 1, 1, 0])
    expect((await store(registry, 'npm.acme/mail_server-2'))?.name).toBe('B')
  })

  test('takes the last of two lines that state the same agent, and reports the other', async () => {
    await using registry = await openRegistry()
    const report = await registry.importLines(
      [server({ name: 'First' }), card(), server({ name: 'Last' })],
      10,
    )
    expect(report).toMatchObject({
      created: 2,
      rejected: [{ line: 10, reason: expect.stringContaining('Line 12') }],
    })
    expect((await store(registry, 'npm.acme/mail_server'))?.name).toBe('Last')
  })

  test.each([
    ['tools of a server', (list: object[]) => server({ tools: list })],
    ['skills of a card', (list: object[]) => card({ skills: list })],
    ['capabilities of a card', (list: object[]) => card({ skills: [], capabilities: list })],
  ])('warns of %s that differ under one name, of which it lists the first', async (_, line) => {
    await using registry = await openRegistry()
    const send = { name: 'send', description: 'Sends.' }
    const twice = await registry.importLines([line([send, send])], 1)
    expect([counts(twice), twice.warnings]).toEqual([[1, 0, 0, 0], []])
    const report = await registry.importLines([line([{ ...send, description: 'Other.' }, send])], 7)
    const message = 'Several capabilities have the name "send": only the first of a name is listed.'
    expect(report).toMatchObject({ updated: 1, warnings: [{ line: 7, message }] })
  })

  test('reports each bad line by number and reason, and lists the others', async () => {
    await using registry = await openRegistry()
    const deep = `{"name":"A","description":"B","url":"https://a.example","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    const bad = [
      'not json',
      '{',
      'null',
      '[]',
      '5',
      '{}',
      server({ description: undefined }),
      server({ url: 'ftp://x' }),
      server({ name: ' ' }),
      server({ runtime: 'svc', packageName: 'utility.wiki' }),
      server({ runtime: 'custom', packageName: 'x' }),
      card({ name: undefined }),
      card({ url: undefined, wellKnownURI: undefined }),
      card({ url: 'javascript:alert(1)', wellKnownURI: 'javascript:alert(2)' }),
      deep,
    ]
    const lines = [server(), ...bad, card()]
    const report = await registry.importLines(lines, 101)
    expect(counts(report)).toEqual([2, 0, 0, bad.length])
    expect(report.rejected.map(({ line }) => line)).toEqual(bad.map((_, index) => 102 + index))
    for (const { line, reason } of report.rejected) expect(`${line} ${reason}`.length).toBeGreaterThan(10)
    expect((await registry.find({})).total).toBe(2)
  })

  test('imports no script as an address', async () => {
    await using registry = await openRegistry()
    await registry.importLines([card({ wellKnownURI: 'javascript:alert(1)' })], 1)
    const entry = await registry.get('com.example.weather/weather-now', null)
    expect(entry.manifest_url).toBe('https://weather.example.com/a2a')
  })

  test('does not change entries that were deleted here or that have an owner', async () => {
    await using registry = await openRegistry()
    await registry.importLines([server(), card()], 1)
    await registry.remove({ agent: 'npm.acme/mail_server' }, admin)
    const claimed = await store(registry, 'com.example.weather/weather-now')
    const owner = { issuer: 'urn:test', subject: 'ada', namespace: null }
    await registry.store.write((writer) => writer.put({ ...(claimed as StoredEntry), owner }))
    const before = await registry.store.read.revision()
    const report = await registry.importLines([server({ name: 'New' }), card({ description: 'New.' })], 1)
    expect(report).toEqual({
      created: 0,
      updated: 0,
      unchanged: 0,
      rejected: [
        { line: 1, reason: expect.stringContaining('deleted') },
        { line: 2, reason: expect.stringContaining('claimed') },
      ],
      warnings: [],
    })
    expect(await registry.store.read.revision()).toBe(before)
  })

  test('takes no name that an owner has published under', async () => {
    await using registry = await openRegistry()
    await registry.publish(publication('npm.acme/mail_server'), person('ada'), signal)
    await registry.importLines([server()], 1)
    expect((await store(registry, 'npm.acme/mail_server'))?.owner?.subject).toBe('ada')
    expect((await store(registry, 'npm.acme/mail_server-2'))?.source_url).toBe('https://github.com/acme/mail')
  })
})

publishedLists(600, [595, 128])
