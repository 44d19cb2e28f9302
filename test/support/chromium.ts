import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

/** Debian's Chromium, if it is installed: as a shell without windows if it can be had, which takes half the CPU. */
export const chromiumPath = ['chromium-headless-shell', 'chromium', 'chromium-browser']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))

/** What the console of a page and its policy report from now on. */
export function reportsOf(page: Page): readonly string[] {
  const reports: string[] = []
  page.on('console', (message) => {
    // On a busy machine seconds pass between loading a page and drawing it.
    if (!message.text().includes('preloaded using link preload')) reports.push(message.text())
  })
  page.on('pageerror', (error) => reports.push(String(error)))
  return reports
}

/** A page in a browser of its own, and what it reports. */
export async function openPage(browser: Browser, address: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const reports = reportsOf(page)
  await page.goto(address)
  await page.evaluate('document.fonts.ready')
  return { context, page, reports, [Symbol.asyncDispose]: () => context.close() }
}
