import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text as readAll } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { TextEmbedding } from '../../../../src/search/embedders/embedder.ts'
import { createTransformersEmbedder } from '../../../../src/search/embedders/transformers/transformers-embedder.ts'
import { rejection } from '../../../net/support.ts'
import { worker } from './support.ts'

const { DRAGOMAN_TEST_MINILM: folder = '', DRAGOMAN_TEST_EXTRAS: extras = '' } = process.env
const isThere = folder !== '' && extras !== ''
const signal = new AbortController().signal
const create = (path = folder) => createTransformersEmbedder({ folder: path, extras, worker })

/** First components of the float model's vectors, by Python's tokenizers and onnxruntime, mean pooling, normalised. */
const reference: readonly (readonly [text: string, start: readonly number[]])[] = [
  ['book a flight to Paris', [0.1431, -0.021, -0.0028, -0.0097, -0.0145, 0.0052, -0.0011, -0.0081]],
  [
    'Crème brûlée: recipes, ratings and wine',
    [0.0232, -0.0592, -0.0349, 0.0184, -0.0402, 0.0334, -0.0179, 0.0159],
  ],
  ['航班 A380 status', [-0.0358, 0.0156, 0.0114, -0.0246, -0.0408, -0.0529, 0.011, -0.0376]],
  [
    'GET /v1/users/{id} returns 404 Not Found',
    [-0.0569, 0.0555, 0.0143, -0.003, -0.027, -0.0547, -0.0353, -0.0047],
  ],
  ['word '.repeat(250), [-0.0078, -0.0951, -0.0387, 0.0494, -0.0441, 0.0242, -0.0179, -0.0198]],
]
const texts = reference.map(([text]) => text)

/** A copy of the folder, without its int8 model or with another tokenizer. */
async function variant(change: (path: string) => Promise<void>) {
  const path = await mkdtemp(join(tmpdir(), 'dragoman-'))
  for (const file of ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json']) {
    await cp(join(folder, file), join(path, file))
  }
  await symlink(join(folder, 'onnx'), join(path, 'onnx'))
  await change(path)
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

const floatOnly = () =>
  variant(async (path) => {
    await rm(join(path, 'onnx'))
    await cp(join(folder, 'onnx/model.onnx'), join(path, 'onnx/model.onnx'))
  })

function cosine({ vector }: TextEmbedding, other: TextEmbedding): number {
  return vector.reduce((sum, value, index) => sum + value * (other.vector[index] ?? 0), 0)
}

if (!isThere)
  test.skip('the real model is not tested: DRAGOMAN_TEST_MINILM and DRAGOMAN_TEST_EXTRAS are not set', () => {})

describe.runIf(isThere)('the real all-MiniLM-L6-v2', () => {
  test('gives the vectors that Python gives', async () => {
    await using small = await floatOnly()
    await using embedder = await create(small.path)
    expect(embedder).toMatchObject({
      model: expect.stringMatching(/^transformers:all-MiniLM-L6-v2:/),
      dimensions: 384,
    })
    const found = await embedder.embed(texts, 'document', signal)
    for (const [index, [, start]] of reference.entries()) {
      const difference = start.map((value, place) => Math.abs(value - (found[index]?.vector[place] ?? 9)))
      expect(Math.max(...difference)).toBeLessThan(0.001)
    }
  })

  test('cuts texts beyond its limit', async () => {
    await using embedder = await create()
    const [long, short] = await embedder.embed(['a b '.repeat(500), 'a b '.repeat(120)], 'document', signal)
    expect(cosine(long!, long!)).toBeCloseTo(1, 5)
    expect(cosine(long!, short!)).toBeGreaterThan(0.9)
  })

  test('loses little as int8, and a vector does not depend on the other texts', async () => {
    await using float = await floatOnly()
    await using large = await create(float.path)
    await using small = await create()
    const [plain, coded] = await Promise.all(
      [large, small].map((embedder) => embedder.embed(texts, 'document', signal)),
    )
    for (const [index, embedding] of coded!.entries()) {
      expect(cosine(embedding, plain![index]!)).toBeGreaterThan(0.975)
      expect(await small.embed([texts[index]!], 'query', signal)).toEqual([embedding])
    }
    expect(small.model).not.toBe(large.model)
  })

  test('detects the tokenizer of another model', async () => {
    await using foreign = await variant(async (path) => {
      const file = join(path, 'tokenizer.json')
      const tokenizer = JSON.parse(await readFile(file, 'utf8'))
      const pieces = Object.entries(tokenizer.model.vocab)
      // Each word has the number of another; the first thousand, special ones included, stay.
      const moved = pieces.map(([piece, id], index) =>
        index < 1000 ? [piece, id] : [piece, pieces[1000 + ((index * 7919) % 29_522)]?.[1]],
      )
      await writeFile(
        file,
        JSON.stringify({ ...tokenizer, model: { ...tokenizer.model, vocab: Object.fromEntries(moved) } }),
      )
    })
    expect(await rejection(create(foreign.path))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no similarity'),
    })
  })

  test.each(['garbage', ''])('says that an ONNX file is broken: %j', async (content) => {
    await using broken = await variant(async (path) => {
      await rm(join(path, 'onnx'))
      await cp(join(folder, 'config.json'), join(path, 'onnx/model.onnx'))
      await writeFile(join(path, 'onnx/model.onnx'), content)
    })
    expect(await rejection(create(broken.path))).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/cannot be loaded: .*(Protobuf|ModelProto)/),
    })
  })

  test('may be closed during a call, and left open by a process that ends', async () => {
    const source = `
      import { createTransformersEmbedder } from '${new URL('./transformers-embedder.ts', worker)}'
      const options = { folder: '${folder}', extras: '${extras}', worker: new URL('${worker}') }
      const { signal } = new AbortController()
      const [first, idle] = [await createTransformersEmbedder(options), await createTransformersEmbedder(options)]
      const running = first.embed(Array(50).fill('book a flight'), 'document', signal).catch(({ code }) => code)
      await idle.embed(['book a flight'], 'query', signal)
      await first[Symbol.asyncDispose]()
      console.log(await running, process.env.ORT_DISABLE_TELEMETRY)`
    const { out, code } = await run(source)
    expect({ out, code }).toEqual({ out: 'unavailable 1\n', code: 0 })
  })

  test('may be refused while its ONNX file is still being read, by a process that ends', async () => {
    await using broken = await variant((path) => writeFile(join(path, 'tokenizer.json'), '{}'))
    const source = `
      import { createTransformersEmbedder } from '${new URL('./transformers-embedder.ts', worker)}'
      const options = { folder: '${broken.path}', extras: '${extras}', worker: new URL('${worker}') }
      console.log(await createTransformersEmbedder(options).catch(({ code }) => code))`
    expect(await run(source)).toEqual({ out: 'unavailable\n', code: 0 })
  })
})

/** Runs a module in a separate process. */
async function run(source: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', source])
  const [out, , code] = await Promise.all([
    readAll(child.stdout),
    buffer(child.stderr),
    new Promise((resolve) => child.on('close', resolve)),
  ])
  return { out, code }
}
