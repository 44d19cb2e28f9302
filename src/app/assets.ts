import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Workers have the extension of this file: .ts in the sources, .js in the build. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const root = new URL(extension === 'ts' ? '../../' : '../../../', import.meta.url)

/** Entry of the worker that turns pages into Markdown. */
export const extractWorker = new URL(`../../agents/reader/worker.${extension}`, import.meta.url)

/** Entry of the worker that draws an icon anew. */
export const iconWorker = new URL(`../registry/publisher/icon-worker.${extension}`, import.meta.url)

/** Entry of the worker that checks the file of a database. */
export const integrityWorker = new URL(`../store/sqlite/integrity-worker.${extension}`, import.meta.url)

/** Entry of the worker that scans many vectors. */
export const vectorsWorker = new URL(`../search/vectors/memory/worker.${extension}`, import.meta.url)

/** Entry of the worker that runs a local sentence model. */
export const embedderWorker = new URL(`../search/embedders/transformers/worker.${extension}`, import.meta.url)

/** Names of products in other scripts. */
export const productNamesFile = fileURLToPath(new URL('models/words/names.txt', root))
/** What people say, and how agents describe it. */
export const idiomsFile = fileURLToPath(new URL('models/words/idioms.txt', root))
/** Acronyms and synonyms of the field. */
export const synonymsFile = fileURLToPath(new URL('models/words/synonyms.txt', root))

/** English words that the built-in table lacks. */
export const englishWordsFile = fileURLToPath(new URL('models/words/english.txt', root))

/** Folder of the built-in embedding table. */
export const staticModel = fileURLToPath(new URL('models/static', root))

/** Folder of the table of words of other languages, which belongs to the built-in table. */
export const languagesModel = fileURLToPath(new URL('models/languages', root))

/** The files that the pages load, and the worker that renders the text of a publisher. */
export const pageFiles = {
  readmeWorker: new URL(`../transports/page/site/agent/readme-worker.${extension}`, import.meta.url),
  folder: new URL('assets/', root),
  /** The guides, which are pages too. */
  docs: new URL('docs/', root),
  font: new URL(import.meta.resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2')),
}

/** The command that people and MCP hosts start. */
export const command = fileURLToPath(new URL('bin/dragoman.js', root))

const packageJson: {
  readonly version: string
  readonly license: string
  /** Of packages that most gateways do not need, the versions that this one is tested with. */
  readonly peerDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

export const { version, license, peerDependencies } = packageJson
