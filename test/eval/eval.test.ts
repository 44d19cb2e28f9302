import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { bootstrap, measure } from '../../bench/eval/metrics.ts'
import { temporaryFolder } from '../support/command.ts'

const main = resolve(import.meta.dirname, '../../bench/eval/main.ts')

describe('figures of one question', () => {
  const relevant = new Map([
    ['a', 1],
    ['b', 1],
  ])

  test.each([
    [['a', 'b', 'c'], { ndcg10: 1, mrr10: 1, recall5: 1, recall10: 1 }],
    [['c', 'a'], { ndcg10: 0.6309 / 1.6309, mrr10: 0.5, recall5: 0.5, recall10: 0.5 }],
    [['1', '2', '3', '4', '5', 'b'], { ndcg10: 0.3562 / 1.6309, mrr10: 1 / 6, recall5: 0, recall10: 0.5 }],
    [[], { ndcg10: 0, mrr10: 0, recall5: 0, recall10: 0 }],
  ])('of the ranking %j', (ranking, expected) => {
    for (const [name, value] of Object.entries(measure(ranking, relevant))) {
      expect([name, value]).toEqual([name, expect.closeTo(expected[name as keyof typeof expected], 3)])
    }
  })

  test('the interval of differences contains their mean, and is narrow if they agree', () => {
    const [low, high] = bootstrap(Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 0.1 : -0.05)))
    expect(low).toBeLessThan(0.025)
    expect(high).toBeGreaterThan(0.025)
    expect(bootstrap([0.3, 0.3, 0.3])).toEqual([expect.closeTo(0.3), expect.closeTo(0.3)])
  })
})

test('a folder is imported, queried and measured: words, meaning and both', async () => {
  await using folder = await temporaryFolder()
  const set = join(folder.path, 'tiny')
  await mkdir(set)
  const corpus = [
    { id: 'x', name: 'sky', description: 'Weather forecasts for every town.', tags: ['rain', ['nested']] },
    {
      id: 'y',
      name: 'mail',
      description: 'Sends e-mail.',
      tools: [{ name: 'send', description: 'Send a letter.' }],
    },
    { id: 'z', name: 'coin', description: null },
    { id: 'hidden', name: 'ghost', description: 'Hides a zero width\u200bspace.' },
  ]
  const queries = [
    { id: 1, text: 'do I need an umbrella' },
    { id: 2, text: 'send mail' },
    { id: 3, text: 'nothing answers this' },
  ]
  const lines = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
  await writeFile(join(set, 'corpus.jsonl'), lines(corpus))
  await writeFile(join(set, 'queries.jsonl'), lines(queries))
  await writeFile(join(set, 'qrels.tsv'), '1\tx\t1\n2\ty\t1\n')
  const { stdout } = await promisify(execFile)(process.execPath, [main, set, '--json'])
  const { sets, mean, skipped } = JSON.parse(stdout)
  expect(skipped.tiny).toEqual([{ id: 'hidden', reason: expect.stringContaining('hides characters') }])
  const whole = { ndcg10: 1, mrr10: 1, recall5: 1, recall10: 1 }
  expect(sets.tiny.hybrid).toEqual(whole)
  expect(sets.tiny.dense).toEqual(whole)
  expect(sets.tiny.bm25).toEqual({ ndcg10: 0.5, mrr10: 0.5, recall5: 0.5, recall10: 0.5 })
  expect(mean.hybrid).toEqual(whole)
}, 30_000)
