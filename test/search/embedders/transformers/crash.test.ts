import { describe, expect, test } from 'vitest'
import type { Failure } from '../../../../schemas/failure.ts'
import type { Embedder } from '../../../../src/search/embedders/embedder.ts'
import { rejection } from '../../../net/support.ts'
import { setUp } from './support.ts'

const signal = new AbortController().signal
const embedOne = (embedder: Embedder, text: string) => embedder.embed([text], 'query', signal)

describe('an embedding thread that crashes', () => {
  test.each([
    ['die', 'the thread ended'],
    ['uncaught', 'out of nowhere'],
  ])('fails the call that made it %s, and later calls have another thread', async (text, message) => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    const failing = rejection(embedOne(embedder, text))
    const waiting = embedOne(embedder, 'waits')
    const failure = await failing
    expect(failure).toMatchObject({ code: 'unavailable' })
    expect((failure as Failure).cause).toMatchObject({ message })
    const [before] = await waiting
    expect(await embedOne(embedder, 'waits')).toEqual([before])
    expect(await setup.loads(2)).toHaveLength(2)
  })

  test('is replaced whenever it has embedded a text in between', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    for (const _ of [1, 2, 3]) {
      await rejection(embedOne(embedder, 'die'))
      expect(await embedOne(embedder, 'flight')).toHaveLength(1)
    }
    expect(await setup.loads(4)).toHaveLength(4)
  })

  test('is not replaced again when its successor crashes too', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    for (const _ of [1, 2]) await rejection(embedOne(embedder, 'die'))
    expect(await rejection(embedOne(embedder, 'flight'))).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('again'),
    })
    expect(await setup.loads(2)).toHaveLength(2)
  })

  test('is not replaced by another model', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    await rejection(embedOne(embedder, 'die'))
    await setup.write('onnx/model_quantized.onnx', 'another')
    for (const _ of [1, 2]) {
      expect(await rejection(embedOne(embedder, 'flight'))).toMatchObject({
        code: 'unavailable',
        message: expect.stringContaining(embedder.model),
      })
    }
    expect(await setup.loads(2)).toHaveLength(2)
  })

  test('is not replaced where its folder is missing', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    await rejection(embedOne(embedder, 'die'))
    await setup.write('config.json', '')
    for (const _ of [1, 2]) {
      expect(await rejection(embedOne(embedder, 'flight'))).toMatchObject({ code: 'unavailable' })
    }
  })

  test('is replaced where it does not answer in time', async () => {
    await using setup = await setUp()
    await using embedder = await setup.create({ batch_ms: 300 })
    const failure = await rejection(embedOne(embedder, 'hang'))
    expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringContaining('300 ms') })
    expect(await embedOne(embedder, 'flight')).toHaveLength(1)
  })
})

describe('a model that fails on a text', () => {
  test.each(['throw', 'NaN', 'short'])('fails the call and continues: %s', async (text) => {
    await using setup = await setUp()
    await using embedder = await setup.create()
    expect(await rejection(embedOne(embedder, text))).toMatchObject({ code: 'internal' })
    expect(await embedOne(embedder, 'flight')).toHaveLength(1)
    expect(await setup.loads(1)).toHaveLength(1)
  })
})
