import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { createPieceIndex, type PieceIndex } from '../../../../src/search/embedders/static/piece-index.ts'

const Digest = z.object({ pieces: z.int(), sha256: z.string() })

/** Made by scripts/embedding-table/tokenizer-vectors.py. Ids are written in decimal, separated by spaces. */
const Vectors = z.object({
  /** The pieces that the greedy search could meet in the texts, by id. */
  vocabulary: z.record(z.string(), z.string()),
  /** The ids of each text. */
  texts: z.record(z.string(), z.string()),
  /** The SHA-256 of the ids of each text, repeated as often as its key says. */
  repeated: z.record(z.string(), Digest.extend({ times: z.int() })),
  mixture: Digest.extend({ words: z.string(), picks: z.int() }),
})

export const vectors = Vectors.parse(
  JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')),
)

/** The vocabulary of the vectors; an unneeded piece is replaced by a line that no text can match. */
export function vocabularyOfVectors(): string[] {
  const ids = Object.keys(vectors.vocabulary).map(Number)
  return Array.from({ length: Math.max(...ids) + 1 }, (_, id) => vectors.vocabulary[id] ?? `no piece ${id}`)
}

export function indexOf(vocabulary: readonly string[]): PieceIndex {
  return createPieceIndex(Buffer.from(vocabulary.map((piece) => `${piece}\n`).join('')), vocabulary.length)
}

/** The text of the mixture: words picked by a linear congruential generator. */
export function mixtureOf({ words, picks }: typeof vectors.mixture): string {
  const list = words.split('|')
  let state = 1
  let text = ''
  for (let pick = 0; pick < picks; pick++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += list[(state >>> 16) % list.length]
  }
  return text
}
