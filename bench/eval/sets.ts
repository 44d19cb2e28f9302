import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { z } from 'zod'

const Text = z.union([z.string(), z.array(z.string()).transform((parts) => parts.join(' ')), z.null()])
const Part = z.object({ name: z.string(), description: Text.optional() })
const Line = z.object({
  id: z.coerce.string(),
  name: z.string(),
  description: Text.optional(),
  tags: z.array(z.unknown()).optional(),
  capabilities: z.array(Part).optional(),
  tools: z.array(Part).optional(),
})
const Question = z.object({ id: z.coerce.string(), text: z.string() })

export interface Question {
  readonly id: string
  readonly text: string
  /** Ids of the documents that answer the query, with their gain. */
  readonly relevant: ReadonlyMap<string, number>
}

export interface RetrievalSet {
  readonly name: string
  /** Agent cards for the import, in the order of `ids`. */
  readonly cards: readonly object[]
  readonly ids: readonly string[]
  readonly questions: readonly Question[]
}

/**
 * Reads a folder of corpus.jsonl ({id, name, description, tags?, capabilities? or tools?}), queries.jsonl ({id, text})
 * and qrels.tsv (query, document, gain). Questions without an answer are left out.
 */
export function readSet(folder: string): RetrievalSet {
  const documents = linesOf(folder, 'corpus.jsonl').map((line) => Line.parse(JSON.parse(line)))
  const relevant = new Map<string, Map<string, number>>()
  for (const line of linesOf(folder, 'qrels.tsv')) {
    const [query = '', document = '', gain = '1'] = line.split('\t')
    if (!(Number(gain) > 0)) continue
    relevant.set(query, (relevant.get(query) ?? new Map()).set(document, Number(gain)))
  }
  const questions = linesOf(folder, 'queries.jsonl')
    .map((line) => Question.parse(JSON.parse(line)))
    .flatMap(({ id, text }) => {
      const answers = relevant.get(id)
      return answers ? [{ id, text, relevant: answers }] : []
    })
  return {
    name: basename(resolve(folder)),
    ids: documents.map(({ id }) => id),
    cards: documents.map(toCard),
    questions,
  }
}

function toCard(
  { name, description, tags = [], capabilities, tools }: z.infer<typeof Line>,
  at: number,
): object {
  const called = name.trim().slice(0, 200) || 'nameless'
  return {
    name: called,
    description: description?.trim() || called,
    url: `https://example.com/${at}`,
    tags: tags.flat().map(String),
    capabilities: (capabilities ?? tools ?? []).map((part) => ({
      name: part.name.slice(0, 200),
      description: part.description ?? '',
    })),
  }
}

function linesOf(folder: string, file: string): string[] {
  return readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
}
