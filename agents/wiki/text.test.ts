import { describe, expect, test } from 'vitest'
import { clip, plain } from './text.ts'

describe('plain', () => {
  test.each([
    ['<span class="searchmatch">Käse</span> &amp; Brot', 'Käse & Brot'],
    ['&#039;&#039;&#039;Berlin&#039;&#039;&#039;', 'Berlin'],
    ['&#x1F600;&nbsp;ok', '😀 ok'],
    ['&unknown; stays', '&unknown; stays'],
    ['&#99999999; &#9999999; &#0;', '&#99999999; &#9999999; &#0;'],
    ['&lt;script&gt;', '<script>'],
    ['R&amp;amp;B &amp;lt;3', 'R&B <3'],
    ['a [[Bank|shore]] of [[Berlin]]', 'a shore of Berlin'],
    ['one\n\n two', 'one two'],
  ])('%j is %j', (html, expected) => {
    expect(plain(html)).toBe(expected)
  })

  test('is quick on a page of opening brackets', () => {
    const start = performance.now()
    plain('<'.repeat(20_000) + "'".repeat(20_000) + '&#'.repeat(20_000))
    expect(performance.now() - start).toBeLessThan(500)
  })
})

describe('clip', () => {
  const text = 'One. Two! Three?'
  test.each([
    [{ characters: 100 }, text, false],
    [{ characters: 100, sentences: 3 }, text, false],
    [{ characters: 100, sentences: 1 }, 'One.', true],
    [{ characters: 12 }, 'One. Two!', true],
    [{ characters: 2 }, 'On', true],
  ])('under %j returns %j', (limit, expected, truncated) => {
    expect(clip(text, limit)).toEqual({ text: expected, truncated })
  })

  test('never cuts a character in two', () => {
    expect(clip('😀😀', { characters: 3 }).text.isWellFormed()).toBe(true)
  })
})
