import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { takingTurns } from '../../src/registry/indexing/turns.ts'
import { createVectorIndex } from '../../src/registry/indexing/vector-index.ts'
import { Lease } from '../../src/registry/lease.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { plainVectors, tinyEmbedder } from '../search/support/plain-vectors.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'

const descriptions = ['weather', 'mail', 'price', 'stocks', 'letter']

async function openStore() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite')))
  return { store, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function put(store: Store) {
  return store.write(async (writer) => {
    for (const description of descriptions)
      await writer.put(
        sampleEntry({ package_name: `com.example.${description}`, name: description, description }),
      )
  })
}

/** The index of one process, whose model takes its time. */
function openIndex(
  store: Store,
  holder: string,
  options: { leases?: Store['leases']; now?: { ms: number } } = {},
) {
  const { leases = store.leases, now = { ms: Date.now() } } = options
  const tiny = tinyEmbedder()
  const slow = {
    ...tiny.embedder,
    async embed(...request: Parameters<typeof tiny.embedder.embed>) {
      await setImmediate()
      return await tiny.embedder.embed(...request)
    },
  }
  const faults: unknown[] = []
  const onError = (fault: unknown) => void faults.push(fault)
  const lease = new Lease({ leases, name: 'embeddings', holder, clock: () => now.ms })
  const inTurn = takingTurns(lease, async () => void (await setImmediate()), onError)
  const index = createVectorIndex(store, slow, plainVectors(), onError, { inTurn })
  return { index, faults, [Symbol.asyncDispose]: () => index[Symbol.asyncDispose]() }
}

test('of two processes over one store, one alone embeds each text, and both have its vector', async () => {
  await using home = await openStore()
  await using first = openIndex(home.store, 'first')
  await using second = openIndex(home.store, 'second')
  const { revision } = await put(home.store)
  await Promise.all([first, second].map(({ index }) => index.tailer.caughtUp(revision)))
  expect([first, second].map(({ index }) => index.tailer.applied_revision)).toEqual([revision, revision])

  await using alone = await openStore()
  await put(alone.store)
  await using only = openIndex(alone.store, 'only')
  await only.index.tailer.filled
  expect(first.index.embedded + second.index.embedded).toBe(only.index.embedded)
  expect([...first.faults, ...second.faults]).toEqual([])
})

test('what a process that died was to embed is embedded by another once its turn is over', async () => {
  await using home = await openStore()
  await put(home.store)
  const now = { ms: Date.now() }
  await home.store.leases.take('embeddings', 'dead', now.ms, now.ms + 10_000)
  await using other = openIndex(home.store, 'other', { now })
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  expect(other.index.embedded).toBe(0)
  now.ms += 10_001
  await other.index.tailer.filled
  expect(other.index.embedded).toBeGreaterThan(0)
})

test('over a store that takes no writes, a process embeds without a turn', async () => {
  await using home = await openStore()
  await put(home.store)
  const leases = {
    ...home.store.leases,
    take: () => Promise.reject(new Failure('unavailable', 'The database is read-only.')),
  }
  await using reading = openIndex(home.store, 'reading', { leases })
  await reading.index.tailer.filled
  expect(reading.index.embedded).toBeGreaterThan(0)
  expect(reading.faults.map(String)).toContain('Failure: The database is read-only.')
})
