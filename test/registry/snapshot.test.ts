import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Sections } from '../../src/common/sections.ts'
import { createSnapshot, restored } from '../../src/registry/indexing/snapshot.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'

const parts = { words: 'weather', numbers: Uint32Array.of(1, 2, 3), revision: Float64Array.of(1) }

async function openHome() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite')))
  await store.write((writer) => writer.put(sampleEntry()))
  const path = join(folder.path, 'index', 'words')
  const faults: unknown[] = []
  const snapshot = (format = '1', of = store) =>
    createSnapshot(path, format, of, (fault) => void faults.push(fault))
  return { folder: folder.path, path, snapshot, faults, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** Every part, as one that needs them reads them; undefined where any of it is damaged. */
async function everything({ snapshot, faults }: Awaited<ReturnType<typeof openHome>>) {
  const read = (sections: Sections | undefined) =>
    sections && [sections.text('words'), sections.integers('numbers'), sections.doubles('revision')]
  return restored(await snapshot().read(), read, (fault) => void faults.push(fault))
}

test('content is read as it was written', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, parts)
  const sections = await home.snapshot().read()
  expect(sections?.text('words')).toBe('weather')
  expect(sections?.integers('numbers')).toEqual(parts.numbers)
  expect(sections?.doubles('revision')).toEqual(parts.revision)
  expect(home.faults).toEqual([])
})

test('no snapshot is read if none was written, or if it is of another version or store', async () => {
  await using home = await openHome()
  await using other = await openHome()
  expect(await home.snapshot().read()).toBeUndefined()
  await home.snapshot().write(1, parts)
  expect(await home.snapshot('2').read()).toBeUndefined()
  await writeFile(other.path, '').catch(() => {})
  await other.snapshot().write(1, parts)
  await writeFile(other.path, await readFile(home.path))
  expect(await other.snapshot().read()).toBeUndefined()
  expect(home.faults).toEqual([])
})

test('a file that is damaged anywhere is reported and not read', async () => {
  await using home = await openHome()
  await home.snapshot().write(1, parts)
  const whole = await readFile(home.path)
  let refused = 0
  for (let at = 0; at < whole.length; at += 7) {
    const damaged = Buffer.from(whole)
    damaged[at] = (damaged[at] ?? 0) ^ 0x10
    await writeFile(home.path, damaged)
    const read = await everything(home)
    // The bytes between the parts are padding.
    if (read) expect(read).toEqual(['weather', parts.numbers, parts.revision])
    else refused += 1
  }
  expect(refused).toBeGreaterThan(whole.length / 10)
  await writeFile(home.path, whole)
  await truncate(home.path, whole.length - 8)
  expect(await everything(home)).toBeUndefined()
  await truncate(home.path, 3)
  expect(await home.snapshot().read()).toBeUndefined()
  expect(home.faults.length).toBeGreaterThan(10)
})

test('a failed write is reported and has no other effect', async () => {
  await using home = await openHome()
  await writeFile(join(home.folder, 'index'), 'a file where the folder should be')
  await home.snapshot().write(1, parts)
  expect(home.faults).toHaveLength(1)
  expect(await home.snapshot().read()).toBeUndefined()
})
