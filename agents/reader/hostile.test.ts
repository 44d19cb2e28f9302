import { afterAll, beforeAll, expect, test } from 'vitest'
import { hostilePages } from '../../test/support/hostile-pages.ts'
import { createExtractor, type Extractor } from './extractor.ts'

const signal = new AbortController().signal
const page = (html: string) => ({ html, url: 'https://example.com/', format: 'markdown' as const })
let extractor: Extractor
beforeAll(() => {
  extractor = createExtractor({ worker: new URL('./worker.ts', import.meta.url) })
})
afterAll(() => extractor[Symbol.asyncDispose]())

/** test/soak/alone/hostile.test.ts sends all of these pages, to a gateway under other load. */
const sample = hostilePages.filter((_, index) => index % 6 === 0)

test.each(sample)('%s is answered within the deadline, and so is the next page', async (_name, html) => {
  const outcome = await extractor.extract(page(html()), signal).then(
    () => 'content',
    (failure: { code: string }) => failure.code,
  )
  const next = await extractor.extract(page('<p>still here</p>'), signal)
  expect(['content', 'deadline_exceeded', 'upstream_invalid']).toContain(outcome)
  expect(next.content).toBe('still here')
})
