import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { entryFields } from '../../schemas/entry-fields.ts'
import { contentDigest, digestOf } from '../../src/store/entries/version-content.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway } from '../support/gateway.ts'

const fixture = join(import.meta.dirname, 'fixtures/digest-format-1.sqlite')
/** The fixture has this one unpublished, and the other one live. */
const unpublished = 'com.fixture.full'
const agents = [unpublished, 'com.fixture.plain']

describe('a registry written before digests had a format', () => {
  test('takes its agents back under the version that they were published as', async () => {
    await using folder = await temporaryFolder()
    await cp(fixture, join(folder.path, 'registry.sqlite'))
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
    const token = await home.token('ada', { namespaces: ['com.fixture'] })
    const post = (agent: string, action: string) =>
      home.request('POST', `/api/agents/${agent}/${action}`, { token })

    for (const agent of agents) {
      const before = await home.request('GET', `/api/agents/${agent}/versions`, { token })
      if (agent === unpublished) expect(await post(agent, 'go-live')).toMatchObject({ status: 200 })
      expect(await post(agent, 'unpublish')).toMatchObject({ status: 200 })
      expect(await post(agent, 'go-live')).toMatchObject({ status: 200 })
      const { json } = await home.request('GET', `/api/agents/${agent}/versions`, { token })
      expect(json).toMatchObject({ total: 1, versions: [{ version: '1.0.0', current: true }] })
      expect(json.versions[0].sha256).toBe(before.json.versions[0].sha256)
    }
    const changed = { description: 'Another agent.' }
    const refused = await home.request('PUT', `/api/agents/${unpublished}`, { token, body: changed })
    expect(refused).toMatchObject({ status: 409, json: { code: 'conflict' } })
  })

  test('takes an agent back whose version an older process published after the migration', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    await cp(fixture, path)
    const digests = readDigests(path)
    await using home = await startGateway({ DRAGOMAN_DATA: folder.path })
    const token = await home.token('ada', { namespaces: ['com.fixture'] })
    {
      using database = new DatabaseSync(path)
      const update = database.prepare('update version set sha256 = ?, digest_format = 1 where entry_id = ?')
      for (const { entry_id, sha256 } of digests) update.run(sha256, entry_id)
    }
    for (const agent of agents) {
      await home.request('POST', `/api/agents/${agent}/unpublish`, { token })
      const { status } = await home.request('POST', `/api/agents/${agent}/go-live`, { token })
      expect(status).toBe(200)
    }
  })
})

function readDigests(path: string): { entry_id: string; sha256: string }[] {
  using database = new DatabaseSync(path)
  const rows = database.prepare('select entry_id, sha256 from version').all()
  return rows.map(({ entry_id, sha256 }) => ({ entry_id: String(entry_id), sha256: String(sha256) }))
}

describe('the digest of content', () => {
  const content = { name: 'Sample', tags: ['a'], version: '1.0.0' }

  test.each([undefined, null, []].map((value) => [value]))(
    'is the same with one more field that is %j',
    (value) => {
      expect(digestOf({ ...content, later: value })).toBe(digestOf(content))
    },
  )

  test('differs with one more field that states something', () => {
    const values = ['', 0, false, {}, ['b']]
    const digests = new Set(values.map((later) => digestOf({ ...content, later })))
    expect(digests.size).toBe(values.length)
    expect(digests).not.toContain(digestOf(content))
  })

  test('keeps the empty values inside a field', () => {
    const card = (value: unknown) =>
      contentDigest(sampleEntry({ id: 'a', package_name: 'b', card: { value } }))
    expect(new Set([null, [], ''].map(card)).size).toBe(3)
  })

  test('is the same whether an entry lacks a field or has its initial value', () => {
    for (const [name, field] of Object.entries(entryFields)) {
      if (!('initial' in field)) continue
      expect(digestOf({ ...content, [`later_${name}`]: field.initial })).toBe(digestOf(content))
    }
  })

  test('is the one of format 2', () => {
    const entry = sampleEntry({ package_name: 'com.sample', version: '1.0.0', tags: ['b', 'a'] })
    expect(contentDigest(entry)).toBe('b6ccd5b1bcb2a3246610069c8f8fc256f3081fa56a391e83c54e712d676f9927')
  })
})
