import { Failure } from '../../../../schemas/failure.ts'
import type { ExtractFeatures, TransformersLibrary } from './library.ts'
import { folderHint, type ModelFolder } from './model-folder.ts'

/** Resolves to the vectors of the texts, concatenated. */
export type Encode = (texts: readonly string[]) => Promise<Float32Array<ArrayBuffer>>

/**
 * Loads the model and tests it. Throws Failure `unavailable` if the model does not work or its vectors are
 * implausible.
 */
export async function loadModel(
  library: TransformersLibrary,
  folder: ModelFolder,
  threads: number,
): Promise<Encode> {
  const extract = await load(library, folder, threads)
  checkTokenizer(extract, folder)
  const encode = createEncode(extract, folder.dimensions)
  await checkSense(encode, folder)
  return encode
}

async function load(
  { pipeline }: TransformersLibrary,
  { path, dtype }: ModelFolder,
  threads: number,
): Promise<ExtractFeatures> {
  const session_options = { intraOpNumThreads: threads, interOpNumThreads: 1 }
  try {
    return await pipeline('feature-extraction', path, {
      ...{ dtype, device: 'cpu', local_files_only: true, session_options },
    })
  } catch (fault) {
    throw unusable(path, `cannot be loaded: ${firstLine(fault)}`, fault)
  }
}

function checkTokenizer({ tokenizer }: ExtractFeatures, { path, positions, pieces }: ModelFolder): void {
  if (!(tokenizer.model_max_length <= positions)) {
    const message = `does not cut texts to the ${positions} word pieces that it reads; set model_max_length in tokenizer_config.json`
    throw unusable(path, message)
  }
  const vocabulary = tokenizer.get_vocab()
  const size = vocabulary instanceof Map ? vocabulary.size : Object.keys(vocabulary).length
  if (size > pieces) throw unusable(path, `has ${pieces} word pieces, and its tokenizer has ${size}`)
}

/**
 * Embeds one text at a time: without padding this is three times as fast as a batch on a CPU, and the other texts
 * cannot change a vector, as they would in an int8 model, whose activations are scaled per batch.
 */
function createEncode(extract: ExtractFeatures, dimensions: number): Encode {
  return async (texts) => {
    const vectors = new Float32Array(texts.length * dimensions)
    for (const [index, text] of texts.entries()) {
      const { data } = await extract(text, { pooling: 'mean', normalize: true })
      if (data.length !== dimensions) throw new Error(`a vector of ${data.length} numbers, not ${dimensions}`)
      if (!data.every(Number.isFinite)) throw new Error('a vector that is not finite')
      vectors.set(data, index * dimensions)
    }
    return vectors
  }
}

/** Pairs of phrases with the same meaning. */
const pairs = [
  ['book a flight', 'buy plane tickets'],
  ['will it rain tomorrow', 'weather forecast'],
  ['how to cook dinner', 'recipes for a meal'],
  ['share prices', 'stock market quotes'],
] as const

/** Each phrase must be nearest to its pair. A model that fails has the vocabulary or the weights of another model. */
async function checkSense(encode: Encode, { path, dimensions }: ModelFolder): Promise<void> {
  const vectors = await encode(pairs.flat()).catch((fault: unknown) => {
    throw unusable(path, `does not work: ${firstLine(fault)}`, fault)
  })
  const at = (index: number) => vectors.subarray(index * dimensions, (index + 1) * dimensions)
  const found = pairs.map((_, left) => {
    const likenesses = pairs.map((_, right) => dot(at(2 * left), at(2 * right + 1)))
    return likenesses.indexOf(Math.max(...likenesses))
  })
  if (found.every((right, left) => right === left)) return
  throw unusable(
    path,
    'finds no similarity between similar phrases: tokenizer.json does not belong to the ONNX file',
  )
}

function dot(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0)
}

function firstLine(fault: unknown): string {
  const [line = ''] = String(fault instanceof Error ? fault.message : fault).split('\n')
  return line.replace(/\.$/, '')
}

function unusable(path: string, what: string, cause?: unknown): Failure {
  return new Failure('unavailable', `The model in ${path} ${what}.`, { hint: folderHint(path) }, cause)
}
