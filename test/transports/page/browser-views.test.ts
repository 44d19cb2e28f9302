import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, reportsOf } from '../../support/chromium.ts'
import type { TestGateway } from '../../support/gateway.ts'
import {
  addressOf,
  sampleGateway,
  signInViews,
  signInVisitor,
  views as siteViews,
} from '../../support/sample-site.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const views = { ...siteViews, ...signInViews }
const names = Object.keys(views)
/** Each view for whom it is shown to. Who signs in sees one of each kind: `play`, and not `play-steps`. */
const cases = names.flatMap((name) => {
  if (views[name]?.isOwn) return [[name, 'signed in']]
  const signedOut = [name, 'signed out']
  return name.includes('-') ? [signedOut] : [signedOut, [name, 'signed in']]
})
/** Guides and references hold a text of any length; every other page is bounded. */
const maxNodes = (name: string, who = '') => {
  if (/^(docs|api)/.test(name)) return 3_000
  // Who is signed in has a form for each capability, of at most 60 fields.
  if (name.startsWith('agent')) return who === 'signed in' ? 750 : 650
  return 600
}

/** Of a first visit, with the font. */
const maxRequests = 6
const maxBytes = 66_000
/** A page that somebody reaches first, before anything was done on it. */
const isFirstVisit = (name: string) => !views[name]?.isOwn && !views[name]?.prepare

const layoutShift = `new Promise((resolve) => {
  let shift = 0
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
    if (!entry.hadRecentInput) shift += entry.value
  })).observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(shift), 0)
})`
const movingParts = `[...document.querySelectorAll('*')].filter((element) => {
  const { transitionDuration, animationName } = getComputedStyle(element)
  return parseFloat(transitionDuration) > 0 || animationName !== 'none'
}).length`

/** Paper does not scroll. */
const cutTables = `[...document.querySelectorAll('.scroll')].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ outerHTML }) => outerHTML.slice(0, 200))`

/** Forced colours put a plate of the colour Canvas behind each text. */
const hiddenTexts = `[...document.querySelectorAll('body *')].filter((element) => {
  const { color, forcedColorAdjust } = getComputedStyle(element)
  const hasText = [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '')
  return hasText && forcedColorAdjust === 'auto' && color === getComputedStyle(document.body).backgroundColor
}).map((element) => element.outerHTML.slice(0, 200))`

let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('every page, in Chromium', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    home = await sampleGateway()
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  })

  afterAll(async () => {
    await browser.close()
    await home[Symbol.asyncDispose]()
  })

  /** A page in the state that its row names, what its console and its policy report, and what it loaded. */
  async function open(
    name: string,
    options: BrowserContextOptions = {},
    before?: (page: Page) => Promise<unknown>,
    isSignedIn = views[name]?.isOwn,
  ) {
    const view = views[name] ?? { path: '/' }
    const context = await browser.newContext({
      viewport: { width: 1280, height: 860 },
      // Colours that are on their way fail a test of contrast.
      reducedMotion: 'reduce',
      ...options,
    })
    const page = await context.newPage()
    if (isSignedIn) await signInVisitor(page, home)
    const reports = reportsOf(page)
    const requests: Request[] = []
    await before?.(page)
    page.on('request', (request) => requests.push(request))
    await page.goto(await addressOf(view, home))
    await page.evaluate('document.fonts.ready')
    const first = [...requests]
    if (options.javaScriptEnabled !== false) await view.prepare?.(page)
    const unexpected = () => reports.filter((line) => !/status of (400|403|404)/.test(line))
    return { page, first, unexpected, [Symbol.asyncDispose]: () => context.close() }
  }

  async function bytesOf(requests: readonly Request[]): Promise<number> {
    const sizes = await Promise.all(requests.map((request) => request.sizes()))
    return sizes.reduce((sum, { responseBodySize, responseHeadersSize }) => {
      return sum + responseBodySize + responseHeadersSize
    }, 0)
  }

  const overflow = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth - innerWidth') as Promise<number>

  async function barriers(page: Page, runOnly: readonly string[]): Promise<string[]> {
    const script = `axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`
    const { violations } = (await page.evaluate(script)) as {
      violations: { id: string; nodes: { html: string }[] }[]
    }
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
  }

  test.each(cases)(
    '%s for somebody %s is within its budgets and without barriers, light and dark, wide and narrow',
    {
      timeout: 60_000,
    },
    async (name = '', who) => {
      await using opened = await open(name, {}, undefined, who === 'signed in')
      const { page, first, unexpected } = opened
      if (who === 'signed out' && isFirstVisit(name)) {
        expect(first.length).toBeLessThanOrEqual(maxRequests)
        expect(await bytesOf(first)).toBeLessThanOrEqual(maxBytes)
      }
      expect(await page.evaluate(layoutShift)).toBeLessThan(0.01)
      expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThanOrEqual(
        maxNodes(name, who),
      )
      expect(await page.locator('h1').count()).toBe(1)
      await page.evaluate(axe)
      expect(await barriers(page, rules)).toEqual([])
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(unexpected()).toEqual([])
      // What who signs in sees besides has the same colours and widths.
      if (who === 'signed in' && !views[name]?.isOwn) return

      await page.emulateMedia({ colorScheme: 'dark' })
      expect(await barriers(page, ['color-contrast'])).toEqual([])
      await page.setViewportSize({ width: 390, height: 860 })
      expect(await barriers(page, rules)).toEqual([])
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      await page.emulateMedia({ colorScheme: 'light' })
      expect(await barriers(page, ['color-contrast'])).toEqual([])

      // A zoom of 400 %.
      await page.setViewportSize({ width: 320, height: 256 })
      expect(await overflow(page)).toBeLessThanOrEqual(0)

      await page.setViewportSize({ width: 720, height: 1000 })
      await page.emulateMedia({ media: 'print' })
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(await page.evaluate(cutTables)).toEqual([])
      expect(await page.locator('h1').isVisible()).toBe(true)
      for (const hidden of ['.head nav', '.foot', '.field', '.toc', '[data-copy]']) {
        const part = page.locator(hidden).first()
        if ((await part.count()) > 0) expect([hidden, await part.isVisible()]).toEqual([hidden, false])
      }

      await page.emulateMedia({ media: 'screen', reducedMotion: 'reduce', forcedColors: 'active' })
      expect(await page.evaluate(movingParts)).toBe(0)
      expect(await page.evaluate(hiddenTexts)).toEqual([])
      expect(await barriers(page, ['color-contrast'])).toEqual([])
      expect(unexpected()).toEqual([])
    },
  )

  test('the page of an agent with an icon and a README takes six requests, and one more for the README', async () => {
    await using opened = await open('agent-icon')
    const { page, first } = opened
    const files = first.map((request) => new URL(request.url()).pathname.split('/').at(-1))
    expect(files.toSorted()).toEqual([
      'call.js',
      'com.example.tides',
      'com.example.tides.png',
      'inter.woff2',
      'style.css',
      'theme.js',
    ])
    expect(await page.evaluate('document.querySelector("img.tile").naturalWidth')).toBeGreaterThan(0)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toMatch(/^data:image\/svg/)
    const readme = page.waitForRequest(/\/readme$/)
    await page.click('[data-load] summary')
    await readme
  })

  test.each(['home', 'search', 'agent', 'docs-guide', 'publish'])(
    '%s shows its text without scripts and without the font',
    async (name) => {
      const options = { viewport: { width: 320, height: 256 }, javaScriptEnabled: false }
      await using opened = await open(name, options, (page) =>
        page.route('**/*.woff2', (route) => route.abort()),
      )
      expect(await overflow(opened.page)).toBeLessThanOrEqual(0)
      expect(await opened.page.locator('h1').count()).toBe(1)
    },
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
    // The hints of the exports stand deeper: this one is of the page that was loaded anew.
    await page.waitForSelector('#steps > .hint')
    expect(await page.evaluate('sessionStorage.length')).toBe(0)
  })

  test('a search of the console while the gateway is away says so, and keeps what was typed', async () => {
    await using opened = await open('play', {})
    const { page } = opened
    await page.context().setOffline(true)
    await page.fill('[data-discover] input', 'tides')
    await page.click('[data-discover] button')
    await page.locator('[data-discover] .note', { hasText: 'The gateway cannot be reached.' }).waitFor()
    expect(await page.inputValue('[data-discover] input')).toBe('tides')
    await page.context().setOffline(false)
    await page.click('[data-discover] button')
    await page.waitForURL(`${home.url}/play?q=tides`)
  })

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
  })

  test('code of a guide is copied as it stands', async () => {
    await using opened = await open('docs-guide', {})
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.click('[data-copy=code-1]')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl http/)
  })
})
