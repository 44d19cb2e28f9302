import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { relative } from 'node:path'
import { text as readAll } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { rejection } from '../../../net/support.ts'
import { setUp, worker } from './support.ts'

const signal = new AbortController().signal
const length = (vector: Float32Array) => Math.hypot(...vector)

describe('the transformers embedder', () => {
  test('gives the vectors of the texts, in their order', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const texts = [...Array(20).keys()].map((index) => `${'x'.repeat(index)} text`)
    const batched = await embedder.embed(texts, 'document', signal)
    const apart = await Promise.all(texts.map((text) => embedder.embed([text], 'query', signal)))
    expect(batched).toEqual(apart.flat())
    expect(new Set(batched.map(({ vector }) => vector.join())).size).toBe(20)
    for (const { vector, coverage } of batched) {
      expect(length(vector)).toBeCloseTo(1, 6)
      expect(vector).toHaveLength(8)
      expect(coverage).toBe(1)
    }
  })

  test('is named by the model and the content of its file', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const hash = createHash('sha256').update('small').digest('hex').slice(0, 12)
    expect(embedder).toMatchObject({ model: `transformers:tiny-model:${hash}`, dimensions: 8 })
  })

  test('loads the int8 model on one core, without the network', async () => {
    await using setup = await setUp()
    await using _embedder = await setup.create()
    expect(await setup.loads(1)).toEqual([
      {
        task: 'feature-extraction',
        folder: setup.folder,
        options: {
          dtype: 'q8',
          device: 'cpu',
          local_files_only: true,
          session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
        },
        env: {
          version: '4.0.0',
          allowRemoteModels: false,
          useFSCache: false,
          useWasmCache: false,
          logLevel: 50,
          fetch: expect.stringContaining('this machine'),
        },
      },
    ])
  })

  test('loads the float model where there is no other, on the configured number of cores', async () => {
    await using setup = await setUp()
    await rm(`${setup.folder}/onnx/model_quantized.onnx`)
    await using embedder = await setup.create({ threads: 2 })
    expect((await setup.loads(1))[0]?.options).toMatchObject({
      dtype: 'fp32',
      session_options: { intraOpNumThreads: 2 },
    })
    const hash = createHash('sha256').update('large').digest('hex').slice(0, 12)
    expect(embedder.model).toBe(`transformers:tiny-model:${hash}`)
  })

  test('resolves its folders from the working directory', async () => {
    await using setup = await setUp()
    const [folder, extras] = [setup.folder, setup.extras].map((path) => relative(process.cwd(), path))
    await using _embedder = await setup.create({ folder: folder!, extras })
    expect((await setup.loads(1))[0]?.folder).toBe(setup.folder)
  })

  test('forbids telemetry to the process as a whole, before the package is loaded', async () => {
    delete process.env.ORT_DISABLE_TELEMETRY
    await using setup = await setUp()
    await using _embedder = await setup.create()
    expect(process.env.ORT_DISABLE_TELEMETRY).toBe('1')
  })

  test('does not embed texts without a Latin letter or a digit; their coverage is 0', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const texts = ['', ' ', '航班查询', 'погода', '?!', '航班 A380', '7', 'é']
    const found = await embedder.embed(texts, 'document', signal)
    expect(found.map(({ coverage }) => coverage)).toEqual([0, 0, 0, 0, 0, 1, 1, 1])
    expect(found[2]?.vector).toEqual(new Float32Array(8))
    expect(found.slice(5).map(({ vector }) => length(vector))).toEqual(Array(3).fill(expect.closeTo(1, 6)))
    expect(await setup.texts(3)).toEqual(['航班 A380', '7', 'é'])
  })

  test('cuts long texts', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    await embedder.embed(['a'.repeat(9000)], 'document', signal)
    expect((await setup.texts(1)).map((text) => text.length)).toEqual([2000])
  })

  test('prefers a query to waiting documents', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const first = embedder.embed(['hold'], 'document', signal)
    await setup.texts(1)
    const documents = embedder.embed(
      [...Array(20).keys()].map((index) => `document ${index}`),
      'document',
      signal,
    )
    const query = embedder.embed(['query'], 'query', signal)
    setup.release()
    await Promise.all([first, documents, query])
    const embedded = await setup.texts(22)
    expect(embedded.indexOf('query')).toBe(1)
    expect(embedded).toHaveLength(22)
  })

  test('refuses calls beyond the limit of waiting calls', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create({ waiting_limit: 1 })
    const running = embedder.embed(['hold'], 'query', signal)
    const waiting = embedder.embed(['waits'], 'query', signal)
    expect(await rejection(embedder.embed(['refused'], 'query', signal))).toMatchObject({
      code: 'unavailable',
    })
    await setup.texts(1)
    setup.release()
    await Promise.all([running, waiting])
    expect(await setup.texts(2)).toEqual(['hold', 'waits'])
  })

  test('ends aborted calls at once, waiting or running', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const caller = new AbortController()
    const gone = ['hold', 'never read'].map((text) =>
      rejection(embedder.embed([text], 'query', caller.signal)),
    )
    const next = embedder.embed(['next'], 'query', signal)
    await setup.texts(1)
    caller.abort('gone')
    expect(await Promise.all(gone)).toEqual(['gone', 'gone'])
    expect(await rejection(embedder.embed([''], 'query', caller.signal))).toBe('gone')
    setup.release()
    await next
    expect(await setup.texts(2)).toEqual(['hold', 'next'])
  })

  test('stops between batches when its caller aborts', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const caller = new AbortController()
    const texts = ['hold', ...[...Array(40).keys()].map((index) => `document ${index}`)]
    const gone = rejection(embedder.embed(texts, 'document', caller.signal))
    await setup.texts(1)
    caller.abort('gone')
    await gone
    setup.release()
    await embedder.embed(['next'], 'document', signal)
    expect((await setup.texts(9)).at(-1)).toBe('next')
    expect(await setup.texts(9)).toHaveLength(9)
  })

  test('drops the output of the package, and lets its process end when it is idle', async () => {
    await using setup = await setUp()
    const module = new URL('./transformers-embedder.ts', worker)
    const source = `
      import { createTransformersEmbedder } from '${module}'
      const options = { folder: '${setup.folder}', extras: '${setup.extras}', worker: new URL('${worker}') }
      const embedder = await createTransformersEmbedder(options)
      const [{ vector }] = await embedder.embed(['hello'], 'query', new AbortController().signal)
      console.log(vector.length)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', source])
    expect(await readAll(child.stdout)).toBe('8\n')
    expect(await readAll(child.stderr)).toBe('')
  })
})

describe('a closed transformers embedder', () => {
  // Less than the five seconds after which an ending thread is abandoned.
  test('fails pending and new calls, and ends its thread', { timeout: 4_000 }, async () => {
    await using setup = await setUp()
    const embedder = await setup.create()
    const held = ['hold', 'waits'].map((text) => rejection(embedder.embed([text], 'query', signal)))
    await setup.texts(1)
    const closing = embedder[Symbol.asyncDispose]()
    for (const failure of await Promise.all(held)) expect(failure).toMatchObject({ code: 'unavailable' })
    expect(await rejection(embedder.embed(['x'], 'query', signal))).toMatchObject({ code: 'unavailable' })
    const isClosed = closing.then(() => true)
    const soon = new Promise((resolve) => setImmediate(resolve, false))
    expect(await Promise.race([isClosed, soon])).toBe(false)
    setup.release()
    expect(await isClosed).toBe(true)
    await embedder[Symbol.asyncDispose]()
    expect(await setup.texts(1)).toEqual(['hold'])
  })
})
