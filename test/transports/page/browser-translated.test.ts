import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chromiumPath } from '../../support/chromium.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { sampleGateway, views } from '../../support/sample-site.ts'

// Every text of the table becomes one of a script that is written from right to left, and a third longer.
vi.mock('../../../src/transports/page/site/words.ts', async (original) => {
  const table = await original<typeof import('../../../src/transports/page/site/words.ts')>()
  return { ...table, words: { ...(translated(table.words) as object), lang: 'ar', dir: 'rtl' } }
})

function translated(value: unknown): unknown {
  if (typeof value === 'string') return inArabic(value)
  if (typeof value === 'function') return (...parts: unknown[]) => inArabic(String(value(...parts)))
  if (Array.isArray(value)) return value.map(translated)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, translated(inner)]))
}

function inArabic(text: string): string {
  const letters = 'ابتثجحخدذرزسشصضطظعغفقكلمنهوي'
  const turned = text.replace(/[a-z]/gi, (letter) => letters[letter.charCodeAt(0) % letters.length] ?? '')
  return `${turned} ${turned.slice(0, Math.ceil(turned.length / 3))}`
}

let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('a second table of words, from right to left', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    home = await sampleGateway()
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  })

  afterAll(async () => {
    await browser.close()
    await home[Symbol.asyncDispose]()
  })

  test.each(
    Object.entries(views)
      .filter(([, { isOwn }]) => !isOwn)
      .map(([name, { path }]) => [name, path] as const),
  )('%s begins at the right and does not overflow, wide and narrow', async (_, path) => {
    await using context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
    const page = await context.newPage()
    await page.goto(home.url + path)
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual([
      'ar',
      'rtl',
    ])
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 })
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      const [mark, end] = (await page.evaluate(
        `[...document.querySelectorAll('.brand, .round')].map((element) => element.getBoundingClientRect().left)`,
      )) as number[]
      expect(mark).toBeGreaterThan(end ?? Number.POSITIVE_INFINITY)
    }
  })
})
