import { existsSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'

/** Debian's Chromium, if it is installed: as a shell without windows if it can be had, which takes half the CPU. */
export const chromiumPath = ['chromium-headless-shell', 'chromium', 'chromium-browser']
  .map((name) => `/usr/bin/${name}`)
  .find((path) => existsSync(path))

/** A page in a browser of its own, and what its console and its policy report. */
export async function openPage(browser: Browser, address: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const reports: string[] = []
  page.on('console', (message) => reports.push(message.text()))
  page.on('pageerror', (error) => reports.push(String(error)))
  await page.goto(address)
  await page.evaluate('document.fonts.ready')
  return { context, page, reports, [Symbol.asyncDispose]: () => context.close() }
}
