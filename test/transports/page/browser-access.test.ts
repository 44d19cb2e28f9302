import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, openPage as openIn } from '../../support/chromium.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { sampleGateway } from '../../support/sample-site.ts'

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

/** The lowest contrast of the borders of fields to the page (WCAG 1.4.11). */
const contrastOfFields = `(() => {
  const luminance = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
    const [red, green, blue] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const page = luminance(getComputedStyle(document.body).backgroundColor)
  const fields = document.querySelectorAll('.field, .fields :is(input:not([type=checkbox], [type=radio]), select, textarea), main > form > input[type=text]')
  return Math.min(...[...fields].map((field) => {
    const border = luminance(getComputedStyle(field).borderTopColor)
    return (Math.max(page, border) + 0.05) / (Math.min(page, border) + 0.05)
  }))
})()`

let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)(
  'in Chromium, for people who do not see, or use no mouse',
  { timeout: 60_000 },
  () => {
    beforeAll(async () => {
      home = await sampleGateway()
      await list(home, {
        package_name: 'org.example.taqs',
        name: 'مساعد الطقس',
        description: 'يقدم توقعات الطقس لأي مدينة (C°).',
        endpoints: [{ protocol: 'mcp', url: 'https://taqs.example.org/mcp' }],
        capabilities: [{ name: 'forecast', description: 'توقعات الطقس.' }],
      })
      browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
    })

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
    )

    test('the way to the sign-in is whole at a zoom of 400 %, with wide texts too', async () => {
      await using opened = await openPage('/', 320, 256)
      const cut = () =>
        opened.page.locator('.account').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
      expect(await cut()).toBe(0)
      await opened.page.evaluate(wideTexts)
      expect(await cut()).toBe(0)
      expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
    })

    test('the policy of the sign-in permits the icon that browsers ask for', async () => {
      await using opened = await openPage('/sign-in')
      const { page, reports } = opened
      // Firefox loads the icon of a tab under the policy of its page.
      const icon = `Object.assign(new Image(), { src: '/favicon.ico' })`
      expect(
        await page.evaluate(`(async (icon) => (await icon.decode(), icon.naturalWidth))(${icon})`),
      ).toBeGreaterThan(0)
      expect(reports).toEqual([])
    })

    test('a form that is refused, or done, is read from what came of it, and leads to its fields', async () => {
      await using opened = await openPage('/sign-in/with/example')
      const { page } = opened
      const focused = () => page.evaluate('document.activeElement.textContent')
      await page.goto(`${home.url}/publish?way=form`)
      await page.fill('[name=package_name]', 'No Name')
      await page.fill('[name=name]', 'Access')
      await page.fill('#f-description', 'Is read aloud.')
      await page.fill('[name=endpoint]', 'https://ada.com/mcp')
      await page.click('button[value=publish]')
      await page.waitForSelector('[role=alert]')
      expect(await page.title()).toBe('This did not work: Publish – Dragoman')
      expect(await focused()).toContain('package name: Use lower-case letters')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.activeElement.name')).toBe('package_name')
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type('com.ada.access')
      await page.click('button[value=publish]')
      await page.waitForURL(/com\.ada\.access/)
      expect(await focused()).toContain('It is listed in STAGE')
    })

    test('texts in Arabic run from the right, among results and on the page of their agent', async () => {
      await using opened = await openPage('/search?q=org.example.taqs')
      const { page } = opened
      const directionOf = (selector: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
      const hit = '.hit:has([href*=taqs])'
      expect([await directionOf(`${hit} h2 a`), await directionOf(`${hit} .text`)]).toEqual(['rtl', 'rtl'])
      await page.goto(`${home.url}/agent/org.example.taqs`)
      expect([await directionOf('h1'), await directionOf('.able summary span')]).toEqual(['rtl', 'rtl'])
      // The name of the capability and its text stand apart.
      const [code, text] = await Promise.all(
        ['code', 'span'].map((name) => page.locator(`.able summary ${name}`).first().boundingBox()),
      )
      expect((text?.x ?? 0) - (code?.x ?? 0) - (code?.width ?? 0)).toBeGreaterThan(4)
    })

    test('each row of filters says on a narrow screen what it filters by', async () => {
      await using opened = await openPage('/search', 375)
      const [titles, rows] = ['.rail h2', '.rail ul'].map((part) => opened.page.locator(part))
      expect(await titles?.count()).toBe(await rows?.count())
      expect(await rows?.count()).toBeGreaterThan(2)
      for (const title of (await titles?.all()) ?? []) expect(await title.isVisible()).toBe(true)
    })

    test('a key is deleted by a button that names it, and is opened first', async () => {
      await using opened = await openPage('/sign-in/with/example')
      const { page } = opened
      await page.goto(`${home.url}/me/keys`)
      for (const label of ['mornings', 'evenings']) {
        await page.getByLabel('What it is for').fill(label)
        await page.getByRole('button', { name: 'Create a key' }).click()
        await page.waitForSelector('#secret')
      }
      const button = page.getByRole('button', { name: 'Delete it now: mornings' })
      expect(await button.count()).toBe(0)
      await page.locator('summary[aria-label="Delete: mornings"]').press('Enter')
      await button.press('Enter')
      await page.getByText('The key is deleted').waitFor()
      expect(await page.locator('.rows strong').allTextContents()).toEqual(['evenings'])
    })

    test('the parts of a page have names for who does not see them', async () => {
      await using opened = await openPage('/')
      const { page } = opened
      const protocols = page.getByRole('radiogroup', { name: 'The same call in four protocols' })
      expect(await protocols.getByRole('radio').count()).toBe(4)
      await protocols.getByRole('radio', { name: 'MCP' }).press('Space')
      expect(await page.getByRole('group', { name: 'MCP' }).textContent()).toContain('tools/call')
      await page.goto(`${home.url}/agent/svc.utility.reader`)
      const code = page.getByRole('radiogroup', { name: 'Call it from code' })
      expect(await code.getByRole('radio').count()).toBe(4)
      expect(await page.locator('.able summary').first().textContent()).toMatch(/^extract_content \S/)
    })

    test.each(['/play', '/play?q=fold+paper', '/search?q=fold+paper', '/agent/svc.utility.reader'])(
      'wide texts stay within %s at a zoom of 400 %',
      async (path) => {
        await using opened = await openPage(path, 320, 256)
        await opened.page.evaluate(wideTexts)
        expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
      },
    )

    test.each(['/', '/me/keys', '/publish?way=form', '/oauth/device'])(
      'the fields of %s stand out from the page, light and dark',
      async (path) => {
        await using opened = await openPage('/sign-in/with/example')
        const { page } = opened
        await page.goto(home.url + path)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const contrast = (await page.evaluate(contrastOfFields)) as number
          expect(contrast).toBeGreaterThanOrEqual(3)
          expect(contrast).toBeLessThan(21)
        }
      },
    )

    test.each(['/', '/search?q=fold+paper', '/agent/svc.utility.reader', '/docs/calling', '/sign-in'])(
      'every text of %s grows with the size that the browser is set to',
      async (path) => {
        await using opened = await openPage(path)
        const sizes = `[...document.querySelectorAll('body :not(svg *)')]
        .filter(({ childNodes }) => [...childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== ''))
        .map((element) => parseFloat(getComputedStyle(element).fontSize))`
        const before = (await opened.page.evaluate(sizes)) as number[]
        await opened.page.evaluate('document.documentElement.style.fontSize = "150%"')
        const after = (await opened.page.evaluate(sizes)) as number[]
        expect(before.length).toBeGreaterThan(3)
        // The greatest headings grow with the window.
        const fixed = before.filter((size, at) => size < 32 && Math.abs((after[at] ?? 0) - size * 1.5) > 0.1)
        expect(fixed).toEqual([])
      },
    )

    describe('a search as one types', () => {
      test('says to a screen reader how many it found, and names the page after it', async () => {
        await using opened = await openPage('/search?q=fold+paper')
        const { page, reports } = opened
        // Only a region that was there before is read.
        const announced = await page.locator('#announcement').elementHandle()
        await page.fill('input[type=search]', 'tides of a harbour')
        await page.waitForURL(/q=tides/)
        expect(await announced?.textContent()).toBe(await page.textContent('#count'))
        expect(await announced?.textContent()).toMatch(/^\d+ agents?$/)
        expect(await page.title()).toBe('tides of a harbour – Dragoman')
        expect(reports).toEqual([])
      })

      test('shows all agents again after Escape', async () => {
        await using opened = await openPage('/search?q=fold+paper')
        const { page } = opened
        await page.focus('input[type=search]')
        await page.keyboard.press('Escape')
        await page.waitForURL(`${home.url}/search`)
        expect(await page.inputValue('input[type=search]')).toBe('')
      })

      test('says that the gateway is away, or refuses it, and goes on with the next letter', async () => {
        await using opened = await openPage('/search?q=fold+paper')
        const { context, page } = opened
        const typed = page.locator('input[type=search]')
        await typed.press('End')
        await context.setOffline(true)
        await typed.pressSequentially(' swans')
        await page.locator('#count', { hasText: 'The gateway cannot be reached.' }).waitFor()
        expect(await page.textContent('#announcement')).toContain('The gateway cannot be reached.')
        await context.setOffline(false)
        await page.route('**/search?*', async (route) =>
          route.fulfill({ status: 429, contentType: 'text/html', body: '<main><p>Too fast.</p></main>' }),
        )
        await typed.pressSequentially(' and')
        await page.locator('#count', { hasText: 'Too fast.' }).waitFor()
        await page.unroute('**/search?*')
        await typed.pressSequentially(' cranes')
        await page.waitForURL(/q=fold\+paper\+swans\+and\+cranes/)
        await page.locator('#count', { hasText: /agents?$/ }).waitFor()
      })
    })
  },
)
