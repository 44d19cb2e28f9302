import { appendFile, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createStaticEmbedder } from '../../../../src/search/embedders/static/static-embedder.ts'
import { fileNames, someTable, tableFolder } from './table-folder.ts'

const vocabulary = ['[UNK]', 'send', 'mail', '##s']
const sequences = [
  [1, 2],
  [4, 3],
] as const
const table = someTable(vocabulary, sequences)
const open = new AbortController().signal
const all = ['manifest.json', ...fileNames]

async function vectorFrom(path: string): Promise<Float32Array> {
  await using embedder = await createStaticEmbedder(path)
  const [embedding] = await embedder.embed(['send mails'], 'query', open)
  return embedding!.vector
}

/** The form of a refusal: it names the file and gives a hint. */
const refusal = (file: string) => ({
  code: 'unavailable',
  message: expect.stringMatching(
    new RegExp(`${file} .*; restore it from the package or rebuild the table\\.$`),
  ),
})

describe('a table', () => {
  it('is accepted as a whole', async () => {
    await using folder = await tableFolder(table)
    expect(await vectorFrom(folder.path)).toHaveLength(16)
  })

  it.each(all)('is refused without %s', async (file) => {
    await using folder = await tableFolder(table)
    await rm(join(folder.path, file))
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject({
      ...refusal(file),
      message: expect.stringContaining(`${file} is missing;`),
    })
  })

  it.each(all)('is refused where %s cannot be read', async (file) => {
    await using folder = await tableFolder(table)
    await rm(join(folder.path, file))
    await mkdir(join(folder.path, file))
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal(file))
  })

  it.each(all)('is refused where the end of %s is missing', async (file) => {
    await using folder = await tableFolder(table)
    const { length } = await readFile(join(folder.path, file))
    for (const size of [length - 1, 1, 0]) {
      await truncate(join(folder.path, file), size)
      await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal(file))
    }
  })

  it.each(fileNames)('is refused with additional bytes in %s', async (file) => {
    await using folder = await tableFolder(table)
    const { length } = await readFile(join(folder.path, file))
    await appendFile(join(folder.path, file), 'more')
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject({
      ...refusal(file),
      message: expect.stringContaining(`has ${length + 4} bytes where the manifest says ${length};`),
    })
  })

  it('is refused with the last byte of megabytes changed', async () => {
    await using folder = await tableFolder(someTable(vocabulary, [], 500_000))
    const path = join(folder.path, 'rows.bin')
    expect(await vectorFrom(folder.path)).toHaveLength(500_000)
    const content = await readFile(path)
    content[content.length - 1]! ^= 1
    await writeFile(path, content)
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal('rows.bin'))
  })

  it.each(fileNames)('is refused with any byte of %s changed', async (file) => {
    await using folder = await tableFolder(table)
    const content = await readFile(join(folder.path, file))
    for (let at = 0; at < content.length; at++) {
      content[at]! ^= 1
      await writeFile(join(folder.path, file), content)
      await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal(file))
      content[at]! ^= 1
    }
  })

  it('with any byte of its manifest changed is refused or means the same', async () => {
    await using folder = await tableFolder(table)
    const path = join(folder.path, 'manifest.json')
    const content = await readFile(path)
    const vector = await vectorFrom(folder.path)
    let refused = 0
    for (let at = 0; at < content.length; at++) {
      content[at]! ^= 1
      await writeFile(path, content)
      const outcome = await vectorFrom(folder.path).catch((fault: unknown) => fault)
      if (outcome instanceof Float32Array) expect(outcome).toEqual(vector)
      else expect(outcome).toMatchObject({ code: 'unavailable' })
      if (!(outcome instanceof Float32Array)) refused++
      content[at]! ^= 1
    }
    expect(refused).toBeGreaterThan(content.length * 0.8)
  })

  it.each([
    ['manifest.json', { format: 2 }],
    ['manifest.json', { format: undefined }],
    ['manifest.json', { dimensions: 0 }],
    ['manifest.json', { dimensions: 16.5 }],
    ['manifest.json', { pieces: 0 }],
    ['manifest.json', { sequences: -1 }],
    ['manifest.json', { name: '' }],
    ['manifest.json', { files: {} }],
    ['rows.bin', { dimensions: 17 }],
    ['sequences.bin', { sequences: 3 }],
  ])('is refused for its %s where the manifest has %j', async (file, change) => {
    await using folder = await tableFolder(table, change)
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal(file))
  })

  it.each([
    [
      'a forward sequence',
      'sequences.bin',
      someTable(vocabulary, [
        [5, 2],
        [1, 2],
      ]),
    ],
    ['a sequence on itself', 'sequences.bin', someTable(vocabulary, [[4, 2]])],
    ['a negative feature', 'sequences.bin', someTable(vocabulary, [[-1, 2]])],
    [
      'a sequence for a right',
      'sequences.bin',
      someTable(vocabulary, [
        [1, 2],
        [1, 4],
      ]),
    ],
    ['a negative right', 'sequences.bin', someTable(vocabulary, [[1, -2]])],
    [
      'a sequence twice',
      'sequences.bin',
      someTable(vocabulary, [
        [1, 2],
        [1, 2],
      ]),
    ],
    ['a piece twice', 'vocabulary.txt', someTable([...vocabulary, 'mail'], [])],
    ['no [UNK]', 'vocabulary.txt', someTable(['send', 'mail'], [])],
    ['an infinite scale', 'scales.bin', { ...table, scales: [1, 1, Number.POSITIVE_INFINITY, 1, 1, 1] }],
    ['a scale that is no number', 'scales.bin', { ...table, scales: [1, 1, 1, 1, 1, Number.NaN] }],
  ])('is refused with %s', async (_, file, content) => {
    await using folder = await tableFolder(content)
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal(file))
  })

  it.each([3, 5])('is refused where its manifest says %d pieces and there are 4', async (pieces) => {
    const rows = new Array<readonly number[]>(pieces).fill([1])
    const content = { vocabulary, sequences: [], dimensions: 1, rows, scales: rows.flat() }
    await using folder = await tableFolder(content, { pieces })
    await expect(createStaticEmbedder(folder.path)).rejects.toMatchObject(refusal('vocabulary.txt'))
  })
})
