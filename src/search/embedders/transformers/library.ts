import { env } from 'node:process'
import { Failure } from '../../../../schemas/failure.ts'
import { findPackage } from '../../../common/optional-package.ts'

/** The part of @huggingface/transformers 4 that this embedder uses. */
export interface TransformersLibrary {
  readonly env: {
    readonly version?: string
    allowRemoteModels: boolean
    useFSCache: boolean
    useWasmCache: boolean
    logLevel: number
    fetch: () => Promise<never>
  }
  pipeline(task: 'feature-extraction', folder: string, options: PipelineOptions): Promise<ExtractFeatures>
}

interface PipelineOptions {
  readonly dtype: 'q8' | 'fp32'
  readonly device: 'cpu'
  readonly local_files_only: true
  readonly session_options: { readonly intraOpNumThreads: number; readonly interOpNumThreads: number }
}

/** Turns a text into its vector. */
export interface ExtractFeatures {
  (text: string, options: { pooling: 'mean'; normalize: true }): Promise<{ readonly data: Float32Array }>
  readonly tokenizer: {
    /** Word pieces to which texts are truncated; Infinity if the folder does not state it. */
    readonly model_max_length: number
    get_vocab(): ReadonlyMap<string, number> | Readonly<Record<string, number>>
  }
}

const packageName = '@huggingface/transformers'
const install = 'dragoman extras add transformers'
/** The package's LogLevel.NONE: its errors are thrown. */
const silent = 50

/**
 * Loads the optional package and disables its network access. The package is loaded from `extras` if that is set and
 * has it, else from beside this program. Throws Failure `unavailable` with the command that installs the package.
 */
export function loadLibrary(extras: string | undefined): TransformersLibrary {
  // onnxruntime sends telemetry unless the process's own environment forbids it before the library is loaded.
  env.ORT_DISABLE_TELEMETRY = '1'
  const library = loadFirst(extras)
  if (!library) throw missing(extras)
  library.env.allowRemoteModels = false
  library.env.useFSCache = false
  library.env.useWasmCache = false
  library.env.logLevel = silent
  library.env.fetch = () => Promise.reject(new Error('models are read from this machine only'))
  return library
}

function loadFirst(extras: string | undefined): TransformersLibrary | undefined {
  for (const { require, path } of findPackage(packageName, extras)) {
    const library = load(require, path)
    if (library) return library
  }
  return undefined
}

/**
 * Undefined for an empty package, such as the one that `overrides` in our package.json puts in place of LanceDB's copy.
 */
function load(require: NodeJS.Require, path: string): TransformersLibrary | undefined {
  const library = attempt(require, path)
  if (!library.env || !library.pipeline) return undefined
  if (library.env.version?.startsWith('4.')) return library as TransformersLibrary
  throw unusable(path, new Error(`its version is ${library.env.version}`))
}

function attempt(require: NodeJS.Require, path: string): Partial<TransformersLibrary> {
  try {
    return require(path)
  } catch (fault) {
    throw unusable(path, fault)
  }
}

function missing(extras: string | undefined): Failure {
  const location = extras ? ` in ${extras} or beside this program` : ''
  return new Failure('unavailable', `The optional package ${packageName} is not installed${location}.`, {
    hint: `Install it with ${install}.`,
  })
}

function unusable(path: string, fault: unknown): Failure {
  const [why] = String(fault instanceof Error ? fault.message : fault).split('\n')
  const hint = `Install it again, optional dependencies included, with ${install}.`
  return new Failure('unavailable', `${path} cannot be loaded: ${why}`, { hint }, fault)
}
