import { Failure } from '../../schemas/failure.ts'
import type { Embedder } from '../search/embedders/embedder.ts'
import { createStaticEmbedder } from '../search/embedders/static/static-embedder.ts'
import { embedderWorker, languagesModel, staticModel } from './assets.ts'
import type { Config } from './config.ts'
import { extrasFolder } from './extras.ts'
import type { Outbound } from './outbound.ts'
import type { Runtime } from './runtime.ts'

/** The configured model, as stored from one start to the next; without secrets. */
export type ModelSettings =
  | { readonly embedder: 'static' }
  | { readonly embedder: 'transformers'; readonly folder: string }
  | { readonly embedder: 'http'; readonly url: string; readonly model: string }

/** Time that a model on an ordinary processor may take to answer, in milliseconds. */
const embedderTimeout = 60_000

/** The model that is in the package. */
export const standby: ModelSettings = { embedder: 'static' }

/** Throws Failure `not_configured` for a model that lacks a setting. */
export function configuredModel(config: Config): ModelSettings {
  const { DRAGOMAN_EMBEDDER, DRAGOMAN_MODEL, DRAGOMAN_EMBEDDINGS_URL } = config
  if (DRAGOMAN_EMBEDDER === 'static') return standby
  const model = required('DRAGOMAN_MODEL', DRAGOMAN_MODEL, DRAGOMAN_EMBEDDER)
  if (DRAGOMAN_EMBEDDER === 'transformers') return { embedder: 'transformers', folder: model }
  const url = required('DRAGOMAN_EMBEDDINGS_URL', DRAGOMAN_EMBEDDINGS_URL, DRAGOMAN_EMBEDDER)
  return { embedder: 'http', url, model }
}

function required(name: string, value: string | undefined, embedder: string): string {
  if (value !== undefined) return value
  throw new Failure('not_configured', `The ${embedder} embedder needs ${name}.`, { hint: `Set ${name}.` })
}

/** The code of an optional embedder is loaded only if the configuration names it. */
export async function openEmbedder(
  settings: ModelSettings,
  { config, options, log }: Runtime,
  outbound: Outbound,
): Promise<Embedder> {
  if (settings.embedder === 'static')
    return options.static_embedder ?? createStaticEmbedder(staticModel, languagesModel)
  if (settings.embedder === 'transformers') {
    const { createTransformersEmbedder } = await import(
      '../search/embedders/transformers/transformers-embedder.ts'
    )
    const { folder } = settings
    const opening = createTransformersEmbedder({
      folder,
      worker: embedderWorker,
      extras: extrasFolder(config),
    })
    return await opening.catch(asMisconfigured)
  }
  const { createHttpEmbedder } = await import('../search/embedders/http/http-embedder.ts')
  const { url, model } = settings
  const { DRAGOMAN_EMBEDDINGS_KEY: key, DRAGOMAN_EMBEDDINGS_DIMENSIONS: dimensions } = config
  const fetch = outbound.fetchFrom(URL.canParse(url) ? [new URL(url).origin] : [], embedderTimeout)
  // An endpoint that loads its model may take minutes.
  log.info({ model }, 'asking the embeddings endpoint for a first vector')
  const limits = { timeout_ms: embedderTimeout, ...(options.signal && { signal: options.signal }) }
  return createHttpEmbedder({ url, model, key, dimensions, fetch, ...limits })
}

/** A model on this machine that cannot be loaded will not load a moment later: the start is not retried. */
function asMisconfigured(fault: unknown): never {
  if (!(fault instanceof Failure) || fault.code !== 'unavailable') throw fault
  throw new Failure('not_configured', fault.message, fault.details, fault.cause)
}
