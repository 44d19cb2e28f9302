import { expect, test } from 'vitest'
import recorded from '../fixtures/model-rows.json' with { type: 'json' }
import { parse } from '../html/parse.ts'
import { layoutOf } from './blocks.ts'
import { featuresOf } from './features.ts'
import model from './model.json' with { type: 'json' }
import { compile } from './model.ts'
import { pageOf } from './page.ts'

const probability = compile(model)

test('the trees compute what LightGBM computes', () => {
  expect(recorded.rows.length).toBeGreaterThanOrEqual(20)
  expect(new Set(recorded.probabilities.map((probability) => probability.toFixed(1))).size).toBeGreaterThan(5)
  for (const [index, row] of recorded.rows.entries())
    expect(probability(Float32Array.from(row))).toBeCloseTo(recorded.probabilities[index] ?? Number.NaN, 4)
})

test('the model and the features agree on the name of each number', () => {
  const [row] = featuresOf(pageOf(layoutOf(parse('<h1>A title</h1><p>Some text.</p>'))))
  expect(row?.map(([name]) => name)).toEqual(model.features)
})

test('a tree of one leaf is its value', () => {
  const model = {
    features: [],
    splits: '',
    leaves: Buffer.from(new Float32Array([2]).buffer).toString('base64'),
    sizes: [1],
  }
  expect(compile(model)(new Float32Array())).toBeCloseTo(1 / (1 + Math.exp(-2)), 6)
})
