import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath } from '../../support/chromium.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { sampleGateway, views } from '../../support/sample-site.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const names = Object.keys(views)
/** Guides and references hold a text of any length; every other page is bounded. */
const maxNodes = (name: string) => (/^(docs|api)/.test(name) ? 3_000 : 600)

let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('every page, in Chromium', () => {
  beforeAll(async () => {
    home = await sampleGateway()
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await home[Symbol.asyncDispose]()
  })

  /** A page in the state that its row names, and what its console and its policy report. */
  async function open(
    name: string,
    options: BrowserContextOptions,
    before?: (page: Page) => Promise<unknown>,
  ) {
    const view = views[name] ?? { path: '/' }
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
    const page = await context.newPage()
    const reports: string[] = []
    page.on('console', (message) => reports.push(message.text()))
    page.on('pageerror', (error) => reports.push(String(error)))
    await before?.(page)
    await page.goto(home.url + view.path)
    await page.evaluate('document.fonts.ready')
    if (options.javaScriptEnabled !== false) await view.prepare?.(page)
    const unexpected = () => reports.filter((line) => !/status of (404|403)/.test(line))
    return { page, unexpected, [Symbol.asyncDispose]: () => context.close() }
  }

  const overflow = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth - innerWidth') as Promise<number>

  async function barriers(page: Page): Promise<string[]> {
    const script = `${axe};axe.run({ runOnly: ${JSON.stringify(rules)} })`
    const { violations } = (await page.evaluate(script)) as {
      violations: { id: string; nodes: { html: string }[] }[]
    }
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
  }

  test.each(
    names.flatMap((name) =>
      [1280, 390].flatMap((width) =>
        (['light', 'dark'] as const).map((scheme) => [name, width, scheme] as const),
      ),
    ),
  )(
    '%s at %i pixels, %s: no barrier, no overflow, nothing reported, few elements',
    async (name, width, colorScheme) => {
      await using opened = await open(name, { viewport: { width, height: 860 }, colorScheme })
      const { page, unexpected } = opened
      expect(await barriers(page)).toEqual([])
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(maxNodes(name))
      expect(unexpected()).toEqual([])
    },
    60_000,
  )

  test.each(names)(
    '%s fits 320 pixels, which is a zoom of 400 %, without scripts and without the font',
    async (name) => {
      const options = { viewport: { width: 320, height: 256 }, javaScriptEnabled: false }
      await using opened = await open(name, options, (page) =>
        page.route('**/*.woff2', (route) => route.abort()),
      )
      expect(await overflow(opened.page)).toBeLessThanOrEqual(0)
      expect(await opened.page.locator('h1').count()).toBe(1)
    },
    30_000,
  )

  test.each(names)(
    '%s prints its text without what operates the page',
    async (name) => {
      await using opened = await open(name, { viewport: { width: 720, height: 1000 } })
      const { page } = opened
      await page.emulateMedia({ media: 'print' })
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(
        await page
          .locator('h1')
          .first()
          .evaluate((element) => element.getClientRects().length),
      ).toBe(1)
      for (const hidden of ['.head nav', '.foot', '.field', '.toc', '[data-copy]']) {
        const part = page.locator(hidden).first()
        if ((await part.count()) > 0) expect([hidden, await part.isVisible()]).toEqual([hidden, false])
      }
    },
    30_000,
  )

  test.each(names)(
    '%s moves nothing for who wants no motion, and has its lines in forced colours',
    async (name) => {
      await using opened = await open(name, { reducedMotion: 'reduce', forcedColors: 'active' })
      const { page } = opened
      const moving = await page.evaluate(
        `[...document.querySelectorAll('*')].filter((element) => parseFloat(getComputedStyle(element).transitionDuration) > 0 || getComputedStyle(element).animationName !== 'none').length`,
      )
      expect(moving).toBe(0)
      expect(await barriers(page)).toEqual([])
    },
    30_000,
  )

  test('the console keeps the steps of a tab from page to page, and forgets them', async () => {
    await using opened = await open('play-steps', {})
    const { page } = opened
    await page.goto(`${home.url}/play`)
    await page.waitForSelector('#steps li')
    await page.fill('[data-discover] input', 'tides')
    await page.click('[data-discover] button')
    await page.waitForURL(`${home.url}/play?q=tides`)
    await page.waitForSelector('#steps li:nth-child(2)')
    expect(await page.locator('#steps summary code').allTextContents()).toEqual([
      '1 extract_content',
      '2 search',
    ])
    await page.click('summary >> text=As curl')
    expect(await page.locator('#export-curl').textContent()).toContain('extract_content')
    await page.click('[data-forget]')
    await page.waitForSelector('#steps .hint')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  }, 30_000)

  test('a search of the guides answers as one types, and keys lead into a guide', async () => {
    await using opened = await open('docs-search', {})
    const { page, unexpected } = opened
    await page.fill('input[type=search]', '')
    await page.keyboard.type('loop_detected')
    await page.waitForURL(`${home.url}/docs?q=loop_detected`)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/docs\/.+/)
    expect(unexpected()).toEqual([])
  }, 30_000)

  test('code of a guide is copied as it stands', async () => {
    await using opened = await open('docs-guide', {})
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.click('[data-copy=code-1]')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl http/)
  }, 30_000)
})
