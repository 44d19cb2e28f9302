import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, openPage as openIn } from '../../support/chromium.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { sampleGateway } from '../../support/sample-site.ts'

const timeout = 60_000

/** What has the focus, if the head hides a part of it. */
const underHead = `(() => {
  const head = document.querySelector('.head')
  const focused = document.activeElement
  if (head.contains(focused) || focused.matches('.skip, body')) return []
  const isHidden = focused.getBoundingClientRect().top < head.getBoundingClientRect().bottom
  return isHidden ? [focused.outerHTML.slice(0, 100)] : []
})()`

/** The spacing that a reader may set (WCAG 1.4.12). */
const wideTexts = `document.adoptedStyleSheets = [new CSSStyleSheet()]
document.adoptedStyleSheets[0].replaceSync('* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }')`

let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('in Chromium, for people who do not see, or use no mouse', () => {
  beforeAll(async () => {
    home = await sampleGateway()
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  }, timeout)

  afterAll(async () => {
    await browser?.close()
    await home?.[Symbol.asyncDispose]()
  })

  const openPage = (path: string, width = 1280, height = 600) =>
    openIn(browser, home.url + path, { viewport: { width, height } })

  test.each([
    ['/search?q=fold+paper', 1280, 600],
    ['/agent/svc.utility.reader', 1280, 600],
    ['/agent/svc.utility.reader', 320, 256],
  ])(
    'what has the focus on %s at %i × %i is never under the head, forwards and backwards',
    async (path, width, height) => {
      await using opened = await openPage(path, width, height)
      const hidden: unknown[] = []
      for (const key of ['Tab', 'Shift+Tab']) {
        for (let step = 0; step < 50; step++) {
          await opened.page.keyboard.press(key)
          hidden.push(...((await opened.page.evaluate(underHead)) as string[]))
        }
      }
      expect(hidden).toEqual([])
    },
    timeout,
  )

  test(
    'the way to the sign-in is whole at a zoom of 400 %, with wide texts too',
    async () => {
      await using opened = await openPage('/', 320, 256)
      const cut = () =>
        opened.page.locator('.account').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      expect(await cut()).toBe(0)
      await opened.page.evaluate(wideTexts)
      expect(await cut()).toBe(0)
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    },
    timeout,
  )
})
