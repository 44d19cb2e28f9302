// What the choice of blocks is worth with predictions that validate.py made: each page by a model that never saw its domain.
import { readFileSync } from 'node:fs'
import { decode } from '../../agents/reader/charset.ts'
import { layoutOf } from '../../agents/reader/html-to-markdown/blocks/blocks.ts'
import { choose } from '../../agents/reader/html-to-markdown/blocks/choose.ts'
import { featuresOf } from '../../agents/reader/html-to-markdown/blocks/features.ts'
import trained from '../../agents/reader/html-to-markdown/blocks/model.json' with { type: 'json' }
import { compile } from '../../agents/reader/html-to-markdown/blocks/model.ts'
import { pageOf } from '../../agents/reader/html-to-markdown/blocks/page.ts'
import { aboutOf } from '../../agents/reader/html-to-markdown/html/about.ts'
import { parse } from '../../agents/reader/html-to-markdown/html/parse.ts'
import { prefilter } from '../../agents/reader/html-to-markdown/html/prefilter.ts'
import { mean } from '../../bench/reading/metrics.ts'
import { htmlOf, readSet } from '../../bench/reading/sets.ts'

const [folder, file] = process.argv.slice(2)
if (folder === undefined) throw new Error('node score.ts DIR [PREDICTED.f64]')
const bytes = file === undefined ? undefined : readFileSync(file)
const predicted = bytes && new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8)
const model = compile(trained)
const set = readSet(folder, 'dev')
const scores = new Map<string, number[]>()
const all: ReturnType<typeof set.score>[] = []
let start = 0
for (const page of set.pages) {
  const { head, body } = prefilter(decode(htmlOf(page), undefined, true).text)
  const root = parse(body)
  const known = pageOf(layoutOf(root))
  const { title, stated, is_article } = aboutOf(head, root)
  const end = start + known.blocks.length
  const probabilities = predicted
    ? [...predicted.subarray(start, end)]
    : featuresOf(known).map((row) => model(Float32Array.from(row, ([, value]) => value)))
  const { chosen } = choose(known, probabilities, { title: title ?? '', stated: stated ?? '', is_article })
  start = end
  const text = known.blocks.filter((block) => chosen.has(block)).map(({ text }) => text)
  const score = set.score(text.join('\n'), page.expected)
  all.push(score)
  scores.set(page.type, [...(scores.get(page.type) ?? []), score.f1])
}
console.log(set.summarise(all))
for (const [type, values] of scores) console.log(type, values.length, mean(values).toFixed(4))
