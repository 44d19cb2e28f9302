import { describe, expect, it } from 'vitest'
import { namesIn, productsOf } from '../../src/search/query/products.ts'
import { readQuery } from '../../src/search/query/query-terms.ts'

const english = new Set('deploy my site to find flight in for a the note server post message'.split(' '))
const names = (text: string) => namesIn(text, readQuery(text), (word) => english.has(word))

describe('names in a query', () => {
  it.each([
    ['deploy my site to vercel', ['vercel']],
    ['post messages to Slack', ['slack']],
    ['find flights in Tokyo', ['tokyo']],
    ['Find flights', []],
    ['post a note in Polish', []],
    ['find 747 flights', []],
  ])('are words that are none of English, or have a capital within a sentence: "%s"', (text, expected) => {
    expect(names(text)).toEqual(expected)
  })
})

it('a maker has products whose names do not say so', () => {
  expect(productsOf('google')).toContain('gmail')
  expect(productsOf('nobody')).toEqual([])
})
