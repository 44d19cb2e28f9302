import { randomUUID } from 'node:crypto'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BroadcastChannel } from 'node:worker_threads'
import {
  createTransformersEmbedder,
  type TransformersEmbedderOptions,
} from '../../../../src/search/embedders/transformers/transformers-embedder.ts'

export const worker = new URL('../../../../src/search/embedders/transformers/worker.ts', import.meta.url)

export const config = {
  _name_or_path: 'somebody/tiny-model',
  model_type: 'bert',
  hidden_size: 8,
  vocab_size: 10,
  max_position_embeddings: 512,
}

interface Loaded {
  readonly task: string
  readonly folder: string
  readonly options: Record<string, unknown>
  readonly env: Record<string, unknown>
}

/** The behaviour of the folder's package: see fake-package.cjs. */
export interface Fake {
  readonly load?: 'reject' | 'die' | 'late'
  readonly sense?: 'none'
  readonly vocabulary?: number
  readonly dimensions?: number
  readonly max_length?: number
}

/** A model folder and an extras folder with a fake package, and the reports of that package. */
export async function setUp(fake: Fake = {}, files: Record<string, string> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'dragoman-'))
  const [folder, extras] = [join(root, 'model'), join(root, 'extras')]
  const channelName = randomUUID()
  const write = async (file: string, text: string) => {
    await mkdir(join(folder, file, '..'), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const all = {
    'config.json': JSON.stringify({ ...config, fake: { ...fake, channel: channelName } }),
    'tokenizer.json': '{}',
    'tokenizer_config.json': '{}',
    'onnx/model.onnx': 'large',
    'onnx/model_quantized.onnx': 'small',
    ...files,
  }
  for (const [file, text] of Object.entries(all)) await write(file, text)
  await install(extras, 'index.cjs')

  const channel = new BroadcastChannel(channelName)
  const texts: string[] = []
  const loads: Loaded[] = []
  const watchers = new Set<() => void>()
  channel.onmessage = ({ data }: { data: { text?: string; loaded?: Loaded } }) => {
    if (data.text !== undefined && !tried.has(data.text)) texts.push(data.text)
    if (data.loaded) loads.push(data.loaded)
    for (const watcher of watchers) watcher()
  }
  /** Reports have a channel of their own, so they come before or after answers. */
  async function atLeast<T>(reports: readonly T[], count: number): Promise<readonly T[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const watcher = () => reports.length >= count && resolve()
    watchers.add(watcher)
    watcher()
    await promise
    watchers.delete(watcher)
    return reports
  }
  return {
    root,
    folder,
    extras,
    /** The texts embedded after the model's test, in order, once there are this many. */
    texts: (count: number) => atLeast(texts, count),
    /** How the model was loaded, once it was loaded this often. */
    loads: (count: number) => atLeast(loads, count),
    write,
    create: (options: Partial<TransformersEmbedderOptions> = {}) =>
      createTransformersEmbedder({ folder, extras, worker, ...options }),
    /** Releases a text `hold`. */
    release: () => channel.postMessage('go on'),
    async [Symbol.asyncDispose]() {
      channel.close()
      await rm(root, { recursive: true })
    },
  }
}

/** The phrases that every model is tested with. */
const tried = new Set([
  ...['book a flight', 'buy plane tickets', 'will it rain tomorrow', 'weather forecast'],
  ...['how to cook dinner', 'recipes for a meal', 'share prices', 'stock market quotes'],
])

/** Installs a package with that main file where @huggingface/transformers is looked up. */
export async function install(extras: string, main: string, text?: string): Promise<void> {
  const folder = join(extras, 'node_modules/@huggingface/transformers')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: '@huggingface/transformers', main }))
  if (text === undefined) await cp(join(import.meta.dirname, 'fake-package.cjs'), join(folder, main))
  else await writeFile(join(folder, main), text)
}
