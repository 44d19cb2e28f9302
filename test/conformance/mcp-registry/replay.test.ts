import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type OfficialRegistry,
  type OfficialRow,
  startRegistryReplay,
  toNanoseconds,
} from '../../support/official-registry.ts'
import { applyChanges, madeDocuments, publishedDocuments, readAll } from './documents.ts'
import { haveOfficialServer, startOfficialServer } from './official-server.ts'

if (!haveOfficialServer)
  console.error('The official MCP registry is not installed here: its tests are skipped.')

const name = 'example.made0/server-0'
const encoded = encodeURIComponent(name)

/** What mirrors and browsers ask; `{time}` stands for a time between two changes. */
const paths = [
  'servers?limit=1',
  'servers?limit=0',
  'servers?limit=101',
  'servers?limit=x',
  'servers?version=latest&limit=7',
  'servers?version=1.2.0&limit=7',
  'servers?search=SERVER-1&limit=7',
  'servers?search=%25&limit=7',
  'servers?search=made1%2F&version=latest',
  'servers?cursor=example.made5&limit=3',
  'servers?cursor=example.made5%2Fserver-5:1.0.0&limit=3',
  'servers?cursor=zzz',
  'servers?include_deleted=true&limit=100',
  'servers?include_deleted=false&limit=100',
  'servers?updated_since={time}',
  'servers?updated_since={time}&limit=5',
  'servers?updated_since={time}&include_deleted=true&version=latest',
  'servers?updated_since={time}&include_deleted=false',
  'servers?updated_since=yesterday',
  'servers?updated_since=2999-01-01T00:00:00Z',
  `servers/${encoded}/versions`,
  `servers/${encoded}/versions?include_deleted=true`,
  `servers/${encoded}/versions/latest`,
  `servers/${encoded}/versions/1.0.0`,
  `servers/${encoded}/versions/1.0.0?include_deleted=true`,
  `servers/${encoded}/versions/9.9.9`,
  'servers/example.made0%2Fnothing/versions',
  'servers/example.made0%2Fnothing/versions/latest',
  'nothing',
]

describe.skipIf(!haveOfficialServer)('the replay of the official registry', () => {
  const documents = madeDocuments(400)
  let original: OfficialRegistry
  let replay: OfficialRegistry
  const times = new Map<OfficialRegistry, string>()
  beforeAll(async () => {
    ;[original, replay] = await Promise.all([startOfficialServer(documents), startRegistryReplay(documents)])
    for (const registry of [original, replay]) {
      const updated = (await readAll(registry.url)).map(factsOf).map(({ updatedAt }) => updatedAt)
      const ordered = updated.toSorted((left, right) => (toNanoseconds(left) < toNanoseconds(right) ? -1 : 1))
      times.set(registry, ordered.at(-1) ?? '')
      await applyChanges(registry, { changes: 20, deletions: 10, statuses: 4 })
      await registry.setStatus(name, '1.0.0', 'deleted')
    }
  }, 120_000)
  afterAll(() => Promise.all([original?.[Symbol.asyncDispose](), replay?.[Symbol.asyncDispose]()]))

  const ask = async (registry: OfficialRegistry, prefix: string, path: string) => {
    const time = encodeURIComponent(times.get(registry) ?? '')
    const answer = await fetch(`${registry.url}/${prefix}/${path.replace('{time}', time)}`)
    const body = JSON.parse(await answer.text())
    return { status: answer.status, type: answer.headers.get('content-type'), body: comparable(body) }
  }

  test.each(paths)('answers %s as the original does', async (path) => {
    for (const prefix of ['v0', 'v0.1'])
      expect(await ask(replay, prefix, path)).toEqual(await ask(original, prefix, path))
  })

  test('lists the same rows after the same changes', async () => {
    const [rows, others] = await Promise.all([readAll(replay.url), readAll(original.url)])
    expect(comparable(rows)).toEqual(comparable(others))
    expect(new Set(others.map(factsOf).map(({ status }) => status)).size).toBe(3)
  })
})

test.skipIf(!haveOfficialServer || publishedDocuments().length === 0)(
  'the official registry takes most of the published documents',
  async () => {
    await using registry = await startOfficialServer(publishedDocuments())
    expect((await readAll(registry.url)).length).toBe(2170)
  },
)

function factsOf(row: OfficialRow) {
  return row._meta['io.modelcontextprotocol.registry/official']
}

/** Without times, which differ, and with only the first words of an error about a parameter. */
function comparable(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value) => {
    if (/^(statusChanged|published|updated)At$/.test(key)) return typeof value
    return key === 'errors' ? undefined : value
  })
  return JSON.parse(text)
}
