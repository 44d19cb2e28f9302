import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { harmonic, mean, type Score, shingleScore, wordScore } from './metrics.ts'

/** A page and the text that people marked in it. */
export interface Page {
  readonly id: string
  readonly url: string
  readonly type: string
  /** The gzipped HTML. */
  readonly file: string
  readonly expected: string
}

export interface ReadingSet {
  readonly pages: readonly Page[]
  score(found: string, expected: string): Score
  /** The summary formula of the set. */
  summarise(scores: readonly Score[]): Score
}

/**
 * A folder in the form of scrapinghub/article-extraction-benchmark (`ground-truth.json`, `html/`) or, for one split
 * of it, of Murrough-Foley/web-content-extraction-benchmark (`dev/ground-truth/`, `dev/html/`).
 */
export function readSet(folder: string, split: string): ReadingSet {
  return existsSync(join(folder, 'ground-truth.json')) ? articles(folder) : pages(join(folder, split))
}

interface Article {
  readonly articleBody?: string
  readonly url?: string
}

function articles(folder: string): ReadingSet {
  const groundTruth: Record<string, Article> = JSON.parse(
    readFileSync(join(folder, 'ground-truth.json'), 'utf8'),
  )
  return {
    pages: Object.entries(groundTruth).map(([id, { articleBody = '', url }]) => ({
      id,
      url: url ?? 'https://page.example/',
      type: 'article',
      file: join(folder, 'html', `${id}.html.gz`),
      expected: articleBody,
    })),
    score: shingleScore,
    summarise(scores) {
      const precision = mean(scores.map((score) => score.precision))
      const recall = mean(scores.map((score) => score.recall))
      return { precision, recall, f1: harmonic(precision, recall) }
    },
  }
}

interface Labelled {
  readonly url?: string
  readonly _internal?: { readonly page_type?: { readonly primary?: string } | string }
  readonly ground_truth: { readonly main_content?: string | null }
}

function pages(folder: string): ReadingSet {
  const files = globSync('ground-truth/*.json', { cwd: folder }).toSorted()
  return {
    pages: files.map((file) => {
      const id = basename(file, '.json')
      const { url, _internal, ground_truth }: Labelled = JSON.parse(readFileSync(join(folder, file), 'utf8'))
      return {
        id,
        url: url ?? 'https://page.example/',
        type: typeOf(_internal?.page_type),
        file: join(folder, 'html', `${id}.html.gz`),
        expected: ground_truth.main_content ?? '',
      }
    }),
    score: wordScore,
    summarise: (scores) => ({
      precision: mean(scores.map(({ precision }) => precision)),
      recall: mean(scores.map(({ recall }) => recall)),
      f1: mean(scores.map(({ f1 }) => f1)),
    }),
  }
}

function typeOf(stated: { readonly primary?: string } | string | undefined): string {
  const type = typeof stated === 'string' ? stated : (stated?.primary ?? 'article')
  return type === 'category' ? 'collection' : type
}

export function htmlOf({ file }: Page): Buffer {
  return gunzipSync(readFileSync(file))
}
