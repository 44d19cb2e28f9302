import { existsSync } from 'node:fs'
import { cp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { createPieceIndex } from '../../../../src/search/embedders/static/piece-index.ts'
import { createStaticEmbedder } from '../../../../src/search/embedders/static/static-embedder.ts'
import { createWordPiece } from '../../../../src/search/embedders/static/word-piece.ts'
import { temporaryFolder } from '../../../support/command.ts'
import { fileNames, plainVector, type TableContent } from './table-folder.ts'
import { vectors } from './vectors.ts'

const folder = fileURLToPath(new URL('../../../../models/static/', import.meta.url))
const haveTable = existsSync(folder)
const where = haveTable ? '' : ' (skipped: models/static is not here)'
const open = new AbortController().signal
const all = ['manifest.json', ...fileNames]

describe.skipIf(!haveTable)(`the shipped table${where}`, async () => {
  const table = haveTable ? await readPlainly() : undefined

  it('has the pieces of the reference', () => {
    const index = createPieceIndex(Buffer.from(table!.vocabulary.join('\n')), table!.vocabulary.length)
    const cut = createWordPiece(index, 1000)
    const differing = Object.entries(vectors.texts).filter(([text, ids]) => cut(text).ids.join(' ') !== ids)
    expect(differing).toEqual([])
  })

  it('gives the vectors that its numbers define', async () => {
    await using embedder = await createStaticEmbedder(folder)
    const texts = Object.entries(vectors.texts)
    const embeddings = await embedder.embed(
      texts.map(([text]) => text),
      'document',
      open,
    )
    for (const [at, [, ids]] of texts.entries()) {
      const pieces = ids === '' ? [] : ids.split(' ').map(Number).slice(0, 254)
      const expected = plainVector(table!, pieces)
      expect(
        expected.map((value, index) => Math.abs(value - embeddings[at]!.vector[index]!) < 1e-6),
      ).not.toContain(false)
    }
  })

  it('covers English, and no Chinese', async () => {
    await using embedder = await createStaticEmbedder(folder)
    const [first, same, other, chinese] = await embedder.embed(
      ['send an email', 'write an e-mail message', 'weather forecast for tomorrow', '搜索小红书笔记'],
      'query',
      open,
    )
    expect(cosine(first!.vector, same!.vector)).toBeGreaterThan(cosine(first!.vector, other!.vector) + 0.2)
    expect([first!.coverage > 0.9, chinese!.coverage]).toEqual([true, 0])
  })

  it.each(all)('is refused with %s changed, truncated or missing', async (file) => {
    await using copy = await temporaryFolder()
    await cp(folder, copy.path, { recursive: true })
    const path = join(copy.path, file)
    const content = await readFile(path)
    const refused = () =>
      expect(createStaticEmbedder(copy.path)).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(file),
      })

    const changed = Buffer.from(content)
    changed[file === 'manifest.json' ? 0 : content.length >> 1]! ^= 1
    await writeFile(path, changed)
    await refused()
    await writeFile(path, content)
    await truncate(path, content.length - 2)
    await refused()
    await rm(path)
    await refused()
    await writeFile(path, content)
    await (await createStaticEmbedder(copy.path))[Symbol.asyncDispose]()
  })
})

/** The files as the format describes them, without the code under test. */
async function readPlainly(): Promise<TableContent> {
  const [vocabulary, sequences, rows, scales] = await Promise.all(
    fileNames.map((name) => readFile(join(folder, name))),
  )
  const { dimensions } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
  const features = scales!.length / 4
  const positions = Array.from({ length: features }, (_, feature) => feature)
  return {
    vocabulary: vocabulary!.toString().trimEnd().split('\n'),
    sequences: Array.from({ length: sequences!.length / 8 }, (_, j) => [
      sequences!.readInt32LE(8 * j),
      sequences!.readInt32LE(8 * j + 4),
    ]),
    dimensions,
    rows: positions.map((feature) =>
      Array.from(new Int8Array(rows!.subarray(feature * dimensions, (feature + 1) * dimensions))),
    ),
    scales: positions.map((feature) => scales!.readFloatLE(4 * feature)),
  }
}

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, at) => sum + value * right[at]!, 0)
}
