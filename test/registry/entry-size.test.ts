import { describe, expect, test } from 'vitest'
import type { FetchedCard } from '../../src/registry/cards/fetch-card.ts'
import { entryBytes, maxEntryBytes } from '../../src/registry/entry/entry-size.ts'
import { listHosted } from '../../src/registry/entry/hosted.ts'
import { withCard } from '../../src/registry/verification/refresh.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import { codeOf, openRegistry, person, publication, signal } from '../support/registry.ts'

const at = '2026-01-01T00:00:00.000Z'
const url = 'https://agent.example.com/card.json'

function cardOf(skills: number, characters: number, more: object = {}): FetchedCard {
  const document = {
    name: 'Many',
    description: 'Does much.',
    version: '1',
    skills: Array.from({ length: skills }, (_, number) => ({
      id: `skill-${number}`,
      name: `skill-${number}`,
      description: 'x'.repeat(characters),
      tags: [],
    })),
    ...more,
  }
  return { document, sha256: 'a'.repeat(64), url }
}

const owned = (more: Partial<StoredEntry> = {}) =>
  sampleEntry({ manifest_url: url, stated: [], owner: { ...person('ada'), namespace: null }, ...more })
const tooLarge = (entry: StoredEntry) => entry.manifest?.findings.filter(({ code }) => code === 'too_large')

describe('capabilities that a card states', () => {
  test('are all listed if the entry is within the bound', () => {
    const entry = withCard(owned(), cardOf(100, 1000), at)
    expect([entry.capabilities.length, tooLarge(entry)]).toEqual([100, []])
  })

  test('are cut at the bound, with a finding', () => {
    const entry = withCard(owned(), cardOf(200, 1000), at)
    const listed = entry.capabilities.length
    expect(listed).toBeLessThan(200)
    expect(entryBytes(entry)).toBeLessThanOrEqual(maxEntryBytes)
    const next = { name: `skill-${listed}`, description: 'x'.repeat(1000) }
    expect(entryBytes({ ...entry, capabilities: [...entry.capabilities, next] })).toBeGreaterThan(
      maxEntryBytes,
    )
    expect(entry.manifest?.status).toBe('ok')
    expect(tooLarge(entry)).toMatchObject([
      { severity: 'warning', field: '/capabilities', message: expect.stringContaining(`first ${listed} `) },
    ])
  })

  test('refuse the card if those that the owner stated do not fit beside it', () => {
    const capabilities = Array.from({ length: 30 }, (_, number) => ({
      name: `own-${number}`,
      description: 'x'.repeat(4000),
    }))
    const before = owned({ capabilities, stated: ['capabilities'] })
    const after = withCard(before, cardOf(200, 800), at)
    expect(after).toMatchObject({ card: null, capabilities, manifest: { status: 'invalid' } })
    expect(tooLarge(after)).toMatchObject([{ severity: 'error' }])
  })

  test('are none if the card alone fills the entry, and the card is refused', () => {
    const after = withCard(owned(), cardOf(1, 10, { more: 'x'.repeat(maxEntryBytes) }), at)
    expect(after).toMatchObject({ card: null, manifest: { status: 'invalid' } })
  })

  test('are cut when an agent is published by its card', async () => {
    await using registry = await openRegistry({ fetchCard: async () => cardOf(200, 1000) })
    const input = { package_name: 'com.example.many', manifest_url: url }
    const { capabilities, manifest } = await registry.publish(input, person('ada'), signal)
    expect(capabilities.length).toBeLessThan(200)
    expect(manifest?.findings[0]).toMatchObject({ code: 'too_large' })
  })
})

describe('an import', () => {
  const line = (characters: number, more: object = {}) =>
    JSON.stringify({
      packageName: 'many',
      name: 'Many',
      description: 'Does much.',
      url: 'https://github.com/acme/many',
      runtime: 'node',
      tools: Array.from({ length: 200 }, (_, number) => ({
        name: `tool-${number}`,
        description: 'x'.repeat(characters),
      })),
      ...more,
    })

  test('lists the tools that fit, and changes nothing when it is repeated', async () => {
    await using registry = await openRegistry()
    expect(await registry.importLines([line(1000)], 1)).toMatchObject({ created: 1, rejected: [] })
    const entry = await registry.store.read.entry({ package_name: 'npm.many' })
    expect(entry && entryBytes(entry)).toBeLessThanOrEqual(maxEntryBytes)
    expect(entry?.capabilities.length).toBeGreaterThan(80)
    expect(await registry.importLines([line(1000)], 1)).toMatchObject({ unchanged: 1 })
    expect(await registry.importLines([line(900)], 1)).toMatchObject({ updated: 1 })
  })

  test('rejects a card that fills an entry alone', async () => {
    await using registry = await openRegistry()
    const card = { name: 'A', description: 'B', url: 'https://a.example', more: 'x'.repeat(maxEntryBytes) }
    const { created, rejected } = await registry.importLines([JSON.stringify(card)], 1)
    expect([created, rejected.map(({ line }) => line)]).toEqual([0, [1]])
    expect(rejected[0]?.reason).toContain(`${maxEntryBytes} bytes`)
  })
})

test('a hosted agent above the bound is not listed', async () => {
  await using registry = await openRegistry()
  const agent = {
    package_name: 'svc.large',
    name: 'Large',
    description: 'Large.',
    tags: [],
    actions: [
      {
        name: 'fill',
        title: 'Fill',
        description: 'Fills.',
        input: { json: { description: 'x'.repeat(maxEntryBytes / 2) }, parse: (value: unknown) => value },
        output: { json: {}, parse: (value: unknown) => value },
        access: 'public' as const,
        effect: 'read' as const,
        advertised: true,
        run: async () => null,
      },
    ],
  }
  const hosting = {
    store: registry.store,
    clock: Date.now,
    createId: () => crypto.randomUUID(),
    domain: null,
  }
  const listing = listHosted(hosting, [agent], { version: '1', license: 'MIT' })
  expect(await codeOf(listing)).toBe('too_large')
  expect(await registry.store.read.revision()).toBe(0)
})

test('a deleted entry that was large is no excuse for a new one', async () => {
  await using registry = await openRegistry()
  const ada = person('ada')
  const capabilities = [
    { name: 'fill', description: '', input_schema: { description: 'x'.repeat(maxEntryBytes) } },
  ]
  const old = owned({ package_name: 'com.example.old', capabilities, deleted: true })
  await registry.store.write((writer) => writer.put(old))
  const again = publication('com.example.old', { capabilities })
  expect(await codeOf(registry.publish(again, ada, signal))).toBe('too_large')
})
