import { afterAll, beforeAll, expect, test } from 'vitest'
import { createExtractor, type Extractor } from '../../agents/reader/extractor.ts'

const signal = new AbortController().signal
const page = (html: string) => ({ html, url: 'https://example.com/', format: 'markdown' as const })

let extractor: Extractor
beforeAll(() => {
  extractor = createExtractor({ worker: new URL('../../agents/reader/worker.ts', import.meta.url) })
})
afterAll(() => extractor[Symbol.asyncDispose]())

test.each([
  ['100,000 links', '<a href="/x">link</a> '],
  ['100,000 links never closed', '<a href="/x">link '],
])('%s are answered within the deadline, and so is the next page', async (_, link) => {
  const outcome = await extractor.extract(page(link.repeat(100_000)), signal).then(
    () => 'content',
    (failure: { code: string }) => failure.code,
  )
  expect(['content', 'deadline_exceeded']).toContain(outcome)
  expect((await extractor.extract(page('<p>still here</p>'), signal)).content).toBe('still here')
})
