import { readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { openSections, type Pieces, type Sections, writeSections } from '../../src/common/sections.ts'
import { createKeep, createSnapshot, restoreFrom } from '../../src/registry/indexing/snapshot.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'

const numbers = Uint32Array.of(1, 2, 3)
const pieces: Pieces = [
  ['words', 'wea'],
  ['words', 'ther'],
  ['numbers', numbers],
  ['revision', Float64Array.of(1)],
]

async function openHome() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite')))
  await store.write((writer) => writer.put(sampleEntry()))
  const path = join(folder.path, 'index', 'words')
  const faults: unknown[] = []
  const snapshot = (format = '1', of = store) =>
    createSnapshot(path, format, of, (fault) => void faults.push(fault))
  /** The manifest, then the files that it names. */
  const files = async () => {
    const names = await readdir(dirname(path))
    return names
      .sort((left, right) => left.length - right.length || (left < right ? -1 : 1))
      .map((name) => join(dirname(path), name))
  }
  return {
    folder: folder.path,
    path,
    snapshot,
    files,
    faults,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** Every part, as one that needs them reads them; undefined where any of it is damaged. */
async function everything({ snapshot, faults }: Awaited<ReturnType<typeof openHome>>) {
  let parts: unknown[] | undefined
  const derived = {
    applied_revision: 0,
    async restore(sections: Sections) {
      parts = [
        await sections.text('words'),
        await sections.integers('numbers'),
        await sections.doubles('revision'),
      ]
    },
  }
  await restoreFrom(await snapshot().read(), derived, (fault) => void faults.push(fault))
  return parts
}

test('content is read as it was written', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, pieces)
  await using sections = await home.snapshot().read()
  expect(await sections?.text('words')).toBe('weather')
  const texts: string[] = []
  for await (const text of sections?.texts('words') ?? []) texts.push(text)
  expect(texts).toEqual(['wea', 'ther'])
  expect(await sections?.integers('numbers')).toEqual(numbers)
  expect(await sections?.doubles('revision')).toEqual(Float64Array.of(1))
  expect(home.faults).toEqual([])
})

test('no snapshot is read if none was written, or if it is of another version or store', async () => {
  await using home = await openHome()
  await using other = await openHome()
  expect(await home.snapshot().read()).toBeUndefined()
  await home.snapshot().write(1, pieces)
  expect(await home.snapshot('2').read()).toBeUndefined()
  await rename(dirname(home.path), dirname(other.path))
  expect(await other.snapshot().read()).toBeUndefined()
  await writeFile(other.path, 'DRG2, the form of earlier versions')
  expect(await other.snapshot().read()).toBeUndefined()
  expect([...home.faults, ...other.faults]).toEqual([])
})

test('a file that is damaged or cut off anywhere is reported and not read', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, pieces)
  for (const file of await home.files()) {
    const whole = await readFile(file)
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      await writeFile(file, damaged)
      expect(await everything(home), `${basename(file)} at ${at}`).toBeUndefined()
      await writeFile(file, whole.subarray(0, at))
      expect(await everything(home), `${basename(file)} cut at ${at}`).toBeUndefined()
    }
    await writeFile(file, whole)
    expect(await everything(home)).toEqual(['weather', numbers, Float64Array.of(1)])
  }
  expect(home.faults.length).toBeGreaterThan(100)
})

test('a write that ends early leaves the last snapshot, and its own files do not stay', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, pieces)
  const before = await home.files()
  function* broken(): Pieces {
    yield ['words', 'sun']
    throw new Error('The index is broken.')
  }
  await home.snapshot().write(1, broken())
  expect(home.faults).toHaveLength(1)
  expect(await home.files()).toEqual(before)
  expect(await everything(home)).toEqual(['weather', numbers, Float64Array.of(1)])
  // A process that was killed.
  const left = `${home.path}.left.0`
  await writeFile(left, 'sun')
  await home.snapshot().write(1, pieces)
  expect(await home.files()).toContain(left)
  const old = new Date(Date.now() - 2 * 60 * 60_000)
  await utimes(left, old, old)
  await home.snapshot().write(1, pieces)
  expect(await home.files()).toHaveLength(2)
})

test('a snapshot is in files of bounded size, which are read after they were replaced', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, [])
  const maxFileBytes = 10_000
  const many = Array.from({ length: 50 }, (_, at) => ['numbers', new Uint32Array(1000).fill(at)] as const)
  await writeSections(home.path, many, maxFileBytes)
  const [, ...files] = await home.files()
  expect(files).toHaveLength(25)
  for (const file of files) expect((await stat(file)).size).toBeLessThanOrEqual(maxFileBytes)
  await using sections = await openSections(home.path)
  await writeSections(home.path, pieces, maxFileBytes)
  expect(await home.files()).toHaveLength(2)
  const read = await sections?.integers('numbers')
  expect(read).toHaveLength(50_000)
  expect(read?.at(-1)).toBe(49)
})

test('a large piece is written and read', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, [])
  const large = Uint32Array.from({ length: 700_001 }, (_, at) => at)
  await writeSections(home.path, [
    ['origin', 'x'],
    ['numbers', large],
  ])
  await using sections = await openSections(home.path)
  const read = await sections?.integers('numbers')
  expect(Buffer.from(read?.buffer ?? new ArrayBuffer(0)).equals(Buffer.from(large.buffer))).toBe(true)
})

test('snapshots are written one after another, each with the revision that it holds', async () => {
  await using home = await openHome()
  const steps: string[] = []
  const index = {
    applied_revision: 0,
    async save(write: (pieces: Pieces) => Promise<void>) {
      steps.push('start')
      await write(pieces)
      steps.push('end')
    },
  }
  const keep = createKeep(home.snapshot(), index)
  await keep(1)
  expect(steps).toEqual([])
  index.applied_revision = 1
  await Promise.all([keep(1), keep(0), keep(1)])
  expect(steps).toEqual(['start', 'end', 'start', 'end'])
  expect(await everything(home)).toEqual(['weather', numbers, Float64Array.of(1)])
})

test('a failed write is reported and has no other effect', async () => {
  await using home = await openHome()
  await writeFile(join(home.folder, 'index'), 'a file where the folder should be')
  await home.snapshot().write(1, pieces)
  expect(home.faults).toHaveLength(1)
  expect(await home.snapshot().read()).toBeUndefined()
})
