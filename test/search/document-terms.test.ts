import { expect, it } from 'vitest'
import { readDocument } from '../../src/search/index/document-terms.ts'
import { documentOf } from './support/documents.ts'

const capability = (description: string) => ({ name: 'do', description })

it('a document is read up to 100,000 characters, its capabilities last', () => {
  const capabilities = [...Array<string>(25).fill('word '.repeat(800)), 'beyond'].map(capability)
  const { frequencies } = readDocument(documentOf({ id: 'a', description: 'described', capabilities }))
  expect(frequencies.get('describ')).toBe(1)
  expect(frequencies.get('word')).toBeGreaterThan(19_000)
  expect(frequencies.get('word')).toBeLessThan(20_000)
  expect(frequencies.has('beyond')).toBe(false)
})

it('a document has up to 10,000 distinct terms; a capability has none that its document lacks', () => {
  const numbers = (from: number) => Array.from({ length: 2000 }, (_, at) => `${from + at}`).join(' ')
  const capabilities = [0, 1, 2, 3, 4, 5].map((at) => capability(numbers(at * 2000)))
  const { frequencies, capabilities: terms } = readDocument(documentOf({ id: 'a', capabilities }))
  expect(frequencies.size).toBe(10_000)
  for (const term of terms.flatMap((set) => [...set])) expect(frequencies.has(term)).toBe(true)
})
