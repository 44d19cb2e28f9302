import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../net/support.ts'
import { chromiumPath, openPage as openIn } from '../../support/chromium.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { pngOf } from '../../support/pictures.ts'

/** Takes away what Safari 16, Firefox 110 and Chrome 109 lack. */
const laterThan2022 = `
delete URLSearchParams.prototype.size
delete Promise.withResolvers
for (const name of ['toSorted', 'toReversed', 'toSpliced', 'with']) delete Array.prototype[name]
`

let home: TestGateway
let browser: Browser
let website: string
let site: Awaited<ReturnType<typeof serve>>

describe.skipIf(!chromiumPath)('in Chromium, where it is installed', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    site = await serve((request, response) => {
      if (request.url === '/swans.md') {
        const text = '# Swans\n\n<script>alert(1)</script>\n\n```sh\nnpx swans\n```\n'
        return response.writeHead(200, { 'Content-Type': 'text/markdown' }).end(text)
      }
      if (request.url === '/swans.png') return response.writeHead(200).end(pngOf(32, 32))
      const body = `<article><h1>Tides</h1><p>${'Tides come twice a day, and <script>alert(1)</script> the moon brings them. '.repeat(20)}</p></article>`
      response
        .writeHead(200, { 'Content-Type': 'text/html' })
        .end(`<html><title>Tides</title><body>${body}</body></html>`)
    })
    website = `${site.origin}/`
    home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: site.origin })
    const { store, tailer } = home.gateway
    const { revision } = await store.write(async (writer) => {
      for (const [at, name] of ['Swans', 'Cranes', 'Boats'].entries()) {
        const package_name = `com.example.${name.toLowerCase()}`
        const description = `Folds paper ${name}. ${'A long text without an end '.repeat(at * 40)}`
        await writer.put(
          sampleEntry({
            package_name,
            name: `${name} ${'wide'.repeat(at * 30)}`,
            description,
            ...(at === 0 && {
              source_url: `${website}swans.md`,
              card: { iconUrl: `${website}swans.png` },
            }),
          }),
        )
      }
    })
    await tailer.caughtUp(revision)
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  })

  afterAll(async () => {
    await browser.close()
    await home[Symbol.asyncDispose]()
    await site[Symbol.asyncDispose]()
  })

  const openPage = (path: string, options?: BrowserContextOptions) =>
    openIn(browser, home.url + path, options)

  const found = (page: Page) => page.locator('#results h2 a').allTextContents()

  test.each(['/search?q=paper', '/agent/com.example.boats'])(
    'long words of publishers leave %s within a narrow screen',
    async (path) => {
      await using opened = await openPage(path, { viewport: { width: 390, height: 860 } })
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      expect(opened.reports).toEqual([])
    },
  )

  test('search answers as one types, and keys walk through the agents', async () => {
    await using opened = await openPage('/search')
    const { page, reports } = opened
    await page.keyboard.press('k')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('swans')
    await page.waitForURL(`${home.url}/search?q=swans`)
    expect((await found(page))[0]).toMatch(/^Swans/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${home.url}/agent/com.example.swans`)
    expect(reports).toEqual([])
  })

  test('search answers as one types in a browser of 2022', async () => {
    await using opened = await openPage('/')
    const { page, reports } = opened
    await page.addInitScript(laterThan2022)
    await page.goto(`${home.url}/search`)
    await page.fill('input[type=search]', 'swans')
    await page.waitForURL(`${home.url}/search?q=swans`)
    expect((await found(page))[0]).toMatch(/^Swans/)
    expect(reports).toEqual([])
  })

  test('colours, and the examples of each protocol, are there in a browser whose styles are of 2022', async () => {
    await using opened = await openPage('/')
    const { page } = opened
    await page.route('**/style.css', async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/\b(has|light-dark|color-mix)\(/g, 'later-$1(')
      await route.fulfill({ response, body })
    })
    await page.goto(`${home.url}/`)
    await page.evaluate('document.fonts.ready')
    expect(await page.locator('.demo pre:visible').count()).toBe(4)
    const edge =
      '[getComputedStyle(document.querySelector(".field")).borderTopColor, getComputedStyle(document.body).color]'
    expect(await page.evaluate(edge)).toEqual(['rgb(143, 137, 125)', 'rgb(27, 33, 39)'])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(edge)).toEqual(['rgb(102, 114, 126)', 'rgb(236, 234, 228)'])
    await page.goto(`${home.url}/agent/svc.utility.reader`)
    expect(await page.locator('.code pre:visible').count()).toBe(4)
  })

  test('a page is printed dark on white, whichever theme one has chosen', async () => {
    await using opened = await openPage('/', { colorScheme: 'dark' })
    const { page } = opened
    const ink = () => page.evaluate('getComputedStyle(document.body).color')
    for (const theme of ['light', 'dark']) {
      await page.click('[data-theme-switch]')
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(theme)
      await page.emulateMedia({ media: 'print' })
      expect(await ink()).toBe('rgb(27, 33, 39)')
      await page.emulateMedia({ media: 'screen' })
    }
    expect(await ink()).toBe('rgb(236, 234, 228)')
  })

  test('the field of the front page offers names that complete what one types, and labels that have it where they have not', async () => {
    await using opened = await openPage('/')
    const { page, reports } = opened
    const offered = page.locator('#names option[value^=Swans]')
    const labels: (string | null)[] = []
    for (const text of ['SWA', 'com.example.swa']) {
      await page.fill('input[type=search]', '')
      await offered.waitFor({ state: 'detached' })
      await page.fill('input[type=search]', text)
      await offered.waitFor({ state: 'attached' })
      labels.push(await offered.textContent())
    }
    expect(labels).toEqual(['', 'com.example.swans'])
    expect(reports).toEqual([])
  })

  test('without scripts, search, filters and pages of agents work too', async () => {
    await using opened = await openPage('/', { javaScriptEnabled: false })
    const { page } = opened
    await page.fill('input[type=search]', 'swans')
    await page.click('form[role=search] button')
    expect((await found(page))[0]).toMatch(/^Swans/)
    await page.click('#results h2 a')
    expect(page.url()).toBe(`${home.url}/agent/com.example.swans`)
  })

  test('where scripts are blocked, nothing is shown that needs them', async () => {
    await using opened = await openPage('/')
    const { page } = opened
    const needing = page.locator(':is([data-theme-switch], [data-copy], .field kbd, form.call):visible')
    await page.goto(`${home.url}/play?agent=svc.utility.reader`)
    expect(await needing.count()).toBeGreaterThan(2)
    await page.route('**/*.js', (route) => route.abort())
    for (const path of ['/play?agent=svc.utility.reader', '/agent/svc.utility.reader', '/connect']) {
      await page.goto(home.url + path)
      expect(await needing.count()).toBe(0)
    }
  })

  test('an agent is called, and a theme is chosen, in a browser that blocks cookies and with them its storage', async () => {
    await using opened = await openPage('/')
    const { page, reports } = opened
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, { get() { throw new DOMException('The operation is insecure.', 'SecurityError') } })
    }`)
    await page.goto(`${home.url}/play?agent=svc.utility.reader`)
    await page.fill('form.call [data-name=url]', website)
    for (const calls of [1, 2]) {
      await page.click('form.call button')
      await page.waitForSelector(`#steps li:nth-child(${calls})`)
    }
    expect(await page.locator('.answer pre').textContent()).toContain('Tides come twice a day')
    expect(reports).toEqual([])
    await page.click('[data-theme-switch]')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })

  test('the theme that one chooses stays', async () => {
    await using opened = await openPage('/')
    const { page } = opened
    await page.click('[data-theme-switch]')
    await page.goto(`${home.url}/connect`)
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  })

  test('the README of a publisher opens on the page of its agent, and its icon comes from here', async () => {
    await using opened = await openPage('/agent/com.example.swans')
    const { page, reports } = opened
    expect(await page.evaluate('document.querySelector("img.tile").naturalWidth')).toBe(96)
    expect(await page.locator('#readme').count()).toBe(0)
    await page.click('summary >> text=README')
    await page.waitForSelector('[data-load] .prose h3')
    expect(await page.locator('[data-load] .prose').textContent()).toContain('not this gateway')
    expect(await page.locator('[data-load] script').count()).toBe(0)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.click('[data-load] [data-copy]')
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('npx swans')
    expect(reports).toEqual([])
  })

  test('a README that was opened while the gateway was away is read when it is opened again', async () => {
    await using opened = await openPage('/agent/com.example.swans')
    const { context, page, reports } = opened
    const summary = page.locator('summary', { hasText: 'README' })
    const failed = page.waitForEvent('requestfailed')
    await context.setOffline(true)
    await summary.click()
    await failed
    await page.getByRole('link', { name: 'Read it' }).waitFor()
    await context.setOffline(false)
    await summary.click()
    await summary.click()
    await page.waitForSelector('details .prose h3')
    expect(reports.filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })

  describe('from the front page', () => {
    /** The front page, and how often its visitor presses the mouse from there on. */
    async function openFront() {
      const opened = await openPage('/')
      const { page } = opened
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      let clicks = 0
      await page.exposeFunction('countClick', () => clicks++)
      await page.addInitScript('addEventListener("pointerdown", () => countClick(), true)')
      await page.goto(`${home.url}/`)
      return { ...opened, clicks: () => clicks }
    }

    /** The key of the field leads into it, so that a search takes no click. */
    async function search(page: Page, query: string) {
      await page.keyboard.press('Control+k')
      await page.keyboard.type(query)
      await page.keyboard.press('Enter')
      await page.waitForURL(/\/search\?q=/)
    }

    const copied = (page: Page) => expect.poll(() => page.evaluate('navigator.clipboard.readText()'))

    test.each(['Claude Code', 'Codex', 'Gemini CLI'])(
      'the configuration of %s for the gateway is copied in two clicks',
      async (host) => {
        await using opened = await openFront()
        const { page, clicks } = opened
        await page.click('nav >> text=Connect')
        await page.click(`[aria-label="Copy: ${host}"]`)
        await copied(page).toMatch(new RegExp(`dragoman.* ${home.url}/mcp`))
        expect(await page.getByRole('status').textContent()).toBe('Copied')
        expect(clicks()).toBe(2)
      },
    )

    test('the configuration for an agent that a search finds is copied in two clicks', async () => {
      await using opened = await openFront()
      const { page, clicks } = opened
      await search(page, 'prices of stocks')
      await page.click('a[href="/agent/svc.utility.finance"]')
      await page.click('[aria-label="Copy: Claude Code"]')
      await copied(page).toContain(`${home.url}/mcp/agents/svc.utility.finance`)
      expect(clicks()).toBe(2)
    })

    test('an agent answers a call in three clicks, the one into its field included', async () => {
      await using opened = await openFront()
      const { page, clicks } = opened
      await search(page, 'read a web page as Markdown')
      await page.click('a[href="/agent/svc.utility.reader"]')
      await page.click('form.call [data-name=url]')
      await page.keyboard.type(website)
      await page.click('form.call button')
      await page.waitForSelector('.answer pre')
      expect(await page.locator('.answer pre').textContent()).toContain('Tides come twice a day')
      expect(clicks()).toBe(3)
    })
  })

  test('a hosted agent is called from its page, and what is wrong stands at its field', async () => {
    await using opened = await openPage('/agent/svc.utility.reader')
    const { page, reports } = opened
    await page.click('form.call button')
    expect(await page.locator('.wrong').first().textContent()).toBe('This is required.')
    await page.fill('form.call [data-name=url]', 'http://127.0.0.1:9/')
    await page.click('form.call button')
    await page.waitForSelector('.answer .note code')
    expect(await page.locator('.answer .note').textContent()).toContain('blocked_address')
    await page.fill('form.call [data-name=url]', website)
    await page.click('form.call button')
    await page.waitForSelector('.answer pre')
    expect(await page.locator('.answer pre').textContent()).toContain('Tides come twice a day')
    expect(reports.filter((line) => !line.includes('status of 403'))).toEqual([])
  })
})
