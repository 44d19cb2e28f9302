// Makes pictures of the pages, light and dark, wide and narrow, in the folder pictures/, with Debian's Chromium; those of
// the README, in docs/pictures/, are cut at the height of a screen.
// usage: npm run pictures -- [PART OF A NAME…]
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { chromiumPath } from '../test/support/chromium.ts'
import {
  addressOf,
  type SampleView,
  sampleGateway,
  signInViews,
  signInVisitor,
  views,
} from '../test/support/sample-site.ts'

const folder = resolve(import.meta.dirname, '../pictures')
const readmeFolder = resolve(import.meta.dirname, '../docs/pictures')
/** The pictures of the README. */
const ofReadme = new Set([
  'home-light-1280',
  'agent-dark-1280',
  'connect-dark-1280',
  'play-answer-light-1280',
])
const screenHeight = 720
const parts = process.argv.slice(2)
/** Pixels of the longest page that is drawn. */
const maxHeight = 2400

if (chromiumPath === undefined) throw new Error('There is no Chromium: apt-get install chromium')
mkdirSync(folder, { recursive: true })
await using home = await sampleGateway()
const playAnswer: SampleView = {
  path: '/play?agent=svc.utility.reader',
  async prepare(page) {
    await page.fill('form.call [data-name=url]', home.article)
    await page.click('form.call button')
    await page.waitForSelector('#steps li')
  },
}
const chosen = Object.entries({ ...views, 'play-answer': playAnswer, ...signInViews }).filter(
  ([name]) => parts.length === 0 || parts.some((part) => name.includes(part)),
)
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
try {
  for (const [name, view] of chosen) {
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme })
        const page = await context.newPage()
        if (view.isOwn) await signInVisitor(page, home)
        await page.goto(await addressOf(view, home))
        await page.evaluate('document.fonts.ready')
        await view.prepare?.(page)
        await page.evaluate('scrollTo(0, 0)')
        const path = resolve(folder, `${name}-${colorScheme}-${width}.png`)
        const clip = { x: 0, y: 0, width, height: await heightOf(page) }
        await page.screenshot({ path, clip, fullPage: true })
        console.log(path)
        const full = `${name}-${colorScheme}-${width}`
        if (ofReadme.has(full)) {
          const short = resolve(readmeFolder, `${name}.png`)
          await page.screenshot({ path: short, clip: { ...clip, height: screenHeight } })
          console.log(short)
        }
        await context.close()
      }
    }
  }
} finally {
  await browser.close()
}

async function heightOf(page: Page): Promise<number> {
  return Math.min(maxHeight, Number(await page.evaluate('document.documentElement.scrollHeight')))
}
