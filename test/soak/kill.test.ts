import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { entryLines } from '../../bench/support/entries.ts'
import { languagesModel, staticModel } from '../../src/app/assets.ts'
import { readConfig } from '../../src/app/config.ts'
import { type Gateway, openGateway } from '../../src/app/gateway.ts'
import { IndexTailer } from '../../src/registry/indexing/index-tailer.ts'
import { createVectorIndex } from '../../src/registry/indexing/vector-index.ts'
import { createStaticEmbedder } from '../../src/search/embedders/static/static-embedder.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { createMemoryVectorStore } from '../../src/search/vectors/memory/memory-vector-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { command, run as runCommand, temporaryFolder } from '../support/command.ts'
import { run } from '../support/processes.ts'
import { publication } from '../support/registry.ts'
import { serve } from '../support/serve.ts'

const rounds = Number(process.env.SOAK_ROUNDS ?? 10)
const roundsOfImport = Number(process.env.SOAK_ROUNDS ?? 20)
/** A third of them where only a few rounds are wanted. */
const importSize = process.env.SOAK_ROUNDS === undefined ? 10_000 : 2_000
const list = resolve(import.meta.dirname, '../../../shared/data/mcp-servers.jsonl')
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

/** Opens the database as SQLite does after a crash, and checks its integrity. */
async function inspect(folder: string) {
  const path = join(folder, 'registry.sqlite')
  await using store = await openSqliteStore(path)
  const revisions = (await store.changes(0, 1_000_000)).map((change) => change.revision)
  using database = new DatabaseSync(path)
  const check = database.prepare('pragma integrity_check').all()
  const rows = database.prepare('select package_name, revision, document from entry').all()
  const entries = rows.map(
    (row) => JSON.parse(String(row.document)) as { package_name: string; source_url: string },
  )
  return { revisions, check, entries, last: await store.read.revision() }
}

function expectSound({ revisions, check, last }: Awaited<ReturnType<typeof inspect>>): void {
  expect(check).toEqual([{ integrity_check: 'ok' }])
  expect(revisions).toEqual(upTo(last))
}

test(`kill -9 of a serving process, ${rounds} times, loses no write that was acknowledged`, async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  const token = (await runCommand(['token', 'create', '--sub', 'ada'], environment)).stdout.trim()
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
  const acknowledged: string[] = []

  for (let round = 0; round < rounds; round++) {
    await using server = await serve(folder.path)
    const killAfter = acknowledged.length + 5 + Math.floor(Math.random() * 60)

    async function publish(name: string): Promise<boolean> {
      const body = JSON.stringify(publication(name))
      const answer = await fetch(`${server.url}/api/agents/publish`, { method: 'POST', headers, body }).catch(
        () => undefined,
      )
      if (answer?.status !== 201) return false
      acknowledged.push(name)
      if (acknowledged.length === killAfter) server.process.kill('SIGKILL')
      return true
    }
    async function publishOn(client: number): Promise<void> {
      for (let number = 0; await publish(`com.soak.r${round}-c${client}-n${number}`); number++);
    }
    await Promise.all([1, 2, 3, 4].map(publishOn))
    expect((await server.ended).signal).toBe('SIGKILL')

    const seen = await inspect(folder.path)
    expectSound(seen)
    const names = new Set(seen.entries.map((entry) => entry.package_name))
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([])
  }
  expect(acknowledged.length).toBeGreaterThan(rounds * 5)
  await using server = await serve(folder.path)
  const mine = await fetch(`${server.url}/api/agents?mine=true&limit=1`, { headers })
  const { total } = (await mine.json()) as { total: number }
  expect(total).toBeGreaterThanOrEqual(acknowledged.length)
})

test.skipIf(!existsSync(list))(
  `kill -9 of an import, ${rounds} times, leaves each line listed once when it is made again`,
  async () => {
    const upstreams = readFileSync(list, 'utf8').trimEnd().split('\n')
    for (let round = 0; round < rounds; round++) {
      await using folder = await temporaryFolder()
      const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_LOG: 'silent' }
      const kills = 1 + (round % 3)
      let reached = 0
      for (let kill = 0; kill < kills; kill++) {
        const target = reached + 1 + Math.floor(Math.random() * 900)
        await using importing = run(process.execPath, [command, 'import', list], environment)
        await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'))
        // The store's own wake is too slow to hit the middle of an import.
        while (reached < target && importing.process.exitCode === null) {
          await pause(5)
          reached = await store.read.revision()
        }
        importing.process.kill('SIGKILL')
        expect((await importing.ended).signal).toBe('SIGKILL')
        expectSound(await inspect(folder.path))
      }
      const { code, stdout, stderr } = await runCommand(['import', list, '--json'], environment)
      expect({ code, stderr }).toMatchObject({ code: 0 })
      const { created, updated, unchanged, rejected } = JSON.parse(stdout)
      expect(updated).toBe(0)
      expect(unchanged).toBeGreaterThan(0)
      expect(created + unchanged + rejected.length).toBe(upstreams.length)

      const seen = await inspect(folder.path)
      expectSound(seen)
      const imported = seen.entries.filter((entry) => entry.source_url !== null)
      expect(imported).toHaveLength(created + unchanged)
      expect(seen.last).toBe(seen.entries.length)
      expect(new Set(imported.map((entry) => entry.package_name)).size).toBe(imported.length)
    }
  },
)

test(`kill -9 at a random moment of an import of ${importSize}, ${roundsOfImport} times: the index equals the store`, async () => {
  await using lists = await temporaryFolder()
  const path = join(lists.path, 'servers.jsonl')
  await writeFile(path, entryLines(importSize).join('\n'))
  for (let round = 0; round < roundsOfImport; round++) {
    await using folder = await temporaryFolder()
    const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_LOG: 'silent' }
    const target = 1 + Math.floor(Math.random() * importSize * 0.9)
    {
      await using importing = run(process.execPath, [command, 'import', path], environment)
      await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'))
      while ((await store.read.revision()) < target && importing.process.exitCode === null) await pause(5)
      importing.process.kill('SIGKILL')
      await importing.ended
    }
    expectSound(await inspect(folder.path))
    // A first start derives everything and leaves a snapshot; the second one starts from that.
    for (const start of ['first', 'second']) {
      const config = readConfig({ PORT: '0', DRAGOMAN_DATA: folder.path, DRAGOMAN_LOG: 'silent' })
      await using gateway = await openGateway(config)
      await gateway.ready
      expect([start, await answers(gateway)]).toEqual([start, await answersAnew(gateway)])
      const { applied_revision, embedded } = gateway.vectors.progress()
      expect(applied_revision).toBe(await gateway.store.read.revision())
      if (start === 'second') expect(embedded).toBe(0)
    }
  }
})

const queries = [
  'translate an invoice',
  'weather report at night',
  'send email for teams',
  'map',
  'kavas tunix',
]

/** What the gateway finds. */
async function answers({ dispatch }: Gateway) {
  const { signal } = new AbortController()
  const found = queries.map(async (query) => {
    const envelope = { to: 'svc.registry', action: 'search', params: { query, limit: 50 } }
    const { output } = await dispatch(envelope, { principal: null, client: 'local', signal })
    const { agents, total } = output as { agents: { id: string; score: number }[]; total: number }
    return { total, agents: agents.map(({ id, score }) => `${id} ${score.toFixed(6)}`) }
  })
  return await Promise.all(found)
}

/** What an index and vectors that are derived from the store alone find. */
async function answersAnew({ store }: Gateway) {
  await using embedder = await createStaticEmbedder(staticModel, languagesModel)
  const vectors = createMemoryVectorStore({ dimensions: embedder.dimensions })
  await using arm = createVectorIndex(store, embedder, vectors, (fault) => expect.fail(String(fault)))
  await using index = createMemoryIndex({ meaning: () => arm.meaning })
  await using tailer = new IndexTailer(store, index, (fault) => expect.fail(String(fault)))
  await Promise.all([tailer.ready, arm.tailer.ready])
  const { signal } = new AbortController()
  const found = queries.map(async (text) => {
    const query = { text, filter: { state: 'ACTIVE' }, limit: 50, sort: 'relevance' } as const
    const { hits, total } = await index.search(query, signal)
    return { total, agents: hits.map(({ id, score }) => `${id} ${score.toFixed(6)}`) }
  })
  return await Promise.all(found)
}
