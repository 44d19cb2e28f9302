import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, openPage } from '../../support/chromium.ts'
import { answerJson, type EnvelopeAgent, serveEnvelopes } from '../../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { instantLogin } from '../../support/sign-in.ts'

const attack = `<script>console.log(1)</script><img src=x onerror=console.log(2)>"'`
const run = 'a'.repeat(40)
/** Patterns that a browser would try for longer than anybody waits. */
const patterns = ['^(a+)+$', '^(a|a)*$', '^(?:a+){2,}$', `^${'a?'.repeat(40)}${run}$`, '^(.*a){20}$']

/** Ends the calls of the agent that waits. */
const released = Promise.withResolvers<void>()

let agent: EnvelopeAgent
let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('in Chromium, where something goes wrong', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    agent = await serveEnvelopes(({ action, params }, response) => {
      if (action === 'dies') return void response.destroy()
      if (action === 'waits') return void released.promise.then(() => answerJson(response, { action }))
      answerJson(response, action === 'large' ? { text: 'x'.repeat(5_000_000) } : { action, params })
    })
    home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin }, { logins: [instantLogin()] })
    const properties = { say: { type: 'string' } }
    const names = ['repeat', 'dies', 'large', 'waits']
    const endpoints = [{ protocol: 'envelope', url: agent.url }] as const
    await list(home, {
      package_name: 'com.example.echo',
      endpoints,
      capabilities: names.map((name) => ({ name, description: name, input_schema: { properties } })),
    })
    const fields = patterns.map((pattern, at) => [`field${at}`, { type: 'string', pattern }])
    await list(home, {
      package_name: 'com.example.patterns',
      endpoints,
      capabilities: [
        { name: 'match', description: 'Matches.', input_schema: { properties: Object.fromEntries(fields) } },
      ],
    })
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  })

  afterAll(async () => {
    await browser?.close()
    for (const each of [home, agent]) await each?.[Symbol.asyncDispose]()
  })

  /** A page of somebody who is signed in. */
  async function openSignedIn(path: string) {
    const opened = await openPage(browser, `${home.url}/sign-in/with/example`)
    await opened.page.goto(home.url + path)
    return opened
  }

  const echo = '/agent/com.example.echo'
  /** The open form of a capability; its agent has several. */
  async function formOf(page: Page, capability: string) {
    const part = page.locator('details.able', { has: page.locator(`[data-capability="${capability}"]`) })
    if ((await part.getAttribute('open')) === null) await part.locator('> summary').click()
    const call = async (say?: string) => {
      if (say !== undefined) await part.locator('[data-name=say]').fill(say)
      await part.getByRole('button', { name: 'Call it' }).click()
    }
    const typed = () => part.locator('[data-name=say]').inputValue()
    return { call, typed, answer: part.locator('.answer') }
  }

  test('a pattern that explodes is not run', async () => {
    await using opened = await openSignedIn('/agent/com.example.patterns')
    const { page } = opened
    for (const at of patterns.keys()) await page.fill(`[data-name=field${at}]`, `${run}!`)
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.locator('.answer > *').first().waitFor()
    expect(await page.evaluate('1 + 1')).toBe(2)
  })

  test('an answer of 5 MB is refused from elsewhere, and cut from here, where its HTML is text', async () => {
    await using opened = await openSignedIn(echo)
    const { call, answer } = await formOf(opened.page, 'large')
    await call()
    await answer.getByText('response_too_large').or(answer.locator('code')).first().waitFor()

    await using other = await openPage(browser, `${home.url}/agent/svc.utility.reader`)
    const { page, reports } = other
    const output = { [attack]: attack, text: `${attack}"${'x'.repeat(5_000_000)}` }
    await page.route('**/execute', (route) => route.fulfill({ json: { output } }))
    await page.fill('form.call [data-name=url]', 'https://example.com/')
    await page.click('form.call button')
    await page.locator('.answer pre').waitFor()
    expect((await page.locator('.answer pre').textContent())?.length).toBe(100_000)
    expect(await page.locator('.answer pre').textContent()).toContain('<script>console.log(1)</script>')
    expect(await page.locator('.answer :is(img, script)').count()).toBe(0)
    expect(await page.locator('.answer').textContent()).toMatch(/49\d{5} more characters are not shown/)
    expect(reports).toEqual([])
  })

  test('an agent that dies, and a gateway that is away, lose nothing that was typed', async () => {
    await using opened = await openSignedIn(echo)
    const { context, page } = opened
    const dying = await formOf(page, 'dies')
    await dying.call('before the end')
    await dying.answer.locator('code').waitFor()
    expect(await dying.typed()).toBe('before the end')

    const { call, typed, answer } = await formOf(page, 'repeat')
    await context.setOffline(true)
    await call('while it is away')
    await answer.getByText('The gateway cannot be reached.').waitFor()
    expect(await typed()).toBe('while it is away')
    await context.setOffline(false)
    await call()
    await answer.locator('pre').waitFor()
    expect(await answer.locator('pre').textContent()).toContain('while it is away')
  })

  test('a call that is slow says so, and whoever presses twice calls once', async () => {
    await using opened = await openSignedIn(echo)
    const { page } = opened
    const { call, answer } = await formOf(page, 'waits')
    const before = agent.received.length
    await call()
    await answer.getByText('Calling').waitFor()
    expect(await page.textContent('#announcement')).toMatch(/^Calling/)
    await call()
    released.resolve()
    await answer.locator('pre').waitFor()
    expect(agent.received.length - before).toBe(1)
    // A screen reader is told that there is an answer, and does not read all of it.
    expect(await page.textContent('#announcement')).toMatch(/^\d+ ms$/)
  })

  test('a form whose answer is slow is sent once, however often its button is pressed', async () => {
    await using opened = await openSignedIn('/me/keys')
    const { page } = opened
    const gate = Promise.withResolvers<void>()
    const posts: string[] = []
    await page.route('**/me/keys', async (route) => {
      posts.push(route.request().method())
      await gate.promise
      await route.continue()
    })
    const create = page.getByRole('button', { name: 'Create a key' })
    const { x = 0, y = 0 } = (await create.boundingBox()) ?? {}
    for (let time = 0; time < 3; time++) {
      await page.mouse.click(x + 9, y + 9)
      await expect.poll(() => posts.length).toBeGreaterThan(0)
    }
    gate.resolve()
    await page.waitForSelector('#secret')
    expect(posts).toEqual(['POST'])
    // The page that follows sends its own form.
    await create.click()
    await page.waitForSelector('.rows > li:nth-child(2)')
  })

  test('a session that ends before a call loses nothing that was typed, and the call is sent again in the next one', async () => {
    await using opened = await openSignedIn(echo)
    const { context, page } = opened
    const { call, typed, answer } = await formOf(page, 'repeat')
    const before = agent.received.length
    await context.clearCookies()
    await call('typed before')
    await answer.getByText('nothing that you typed is lost').waitFor()
    const [tab] = await Promise.all([
      context.waitForEvent('page'),
      answer.getByRole('link', { name: 'Sign in again' }).click(),
    ])
    await tab.getByRole('link', { name: 'Continue with Example' }).click()
    await tab.waitForURL(`${home.url}/me`)
    await tab.close()
    await call()
    await answer.getByText('You are signed in as').waitFor()
    expect([await typed(), agent.received.length]).toEqual(['typed before', before])
    await call()
    await answer.locator('pre').waitFor()
    expect(agent.received.at(-1)?.params).toEqual({ say: 'typed before' })
  })

  test('a text is copied where the gateway is reached by http from another machine', async () => {
    await using opened = await openPage(browser, `${home.url}/connect`)
    const { page, reports } = opened
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.goto(`${home.url}/connect`)
    const button = page.getByRole('button', { name: 'Copy: Claude Code' })
    await button.click()
    await page.locator('#announcement', { hasText: 'Copied' }).waitFor()
    expect(await button.evaluate('document.activeElement.dataset.copy')).toMatch(/claude-code$/)
    await page.goto(`${home.url}/search`)
    await page.focus('input[type=search]')
    await page.keyboard.press('ControlOrMeta+v')
    expect(await page.inputValue('input[type=search]')).toContain(`${home.url}/mcp`)
    expect(reports).toEqual([])
  })

  test('a session that ends before an agent is published loses nothing that was typed', async () => {
    await using opened = await openSignedIn('/publish?way=form')
    const { context, page } = opened
    await page.fill('[name=package_name]', 'com.ada.lasting')
    await page.fill('[name=name]', 'Lasting')
    await page.fill('#f-description', 'Outlives a session.')
    await page.fill('[name=endpoint]', agent.url)
    await context.clearCookies()
    await page.click('button[value=publish]')
    await page.getByText('nothing that you typed is lost').waitFor()
    const tab = await context.newPage()
    await tab.goto(`${home.url}/sign-in/with/example`)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('You are signed in as').waitFor()
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.waitForURL(/\/me\/agents\/com\.ada\.lasting/)
    expect(await page.inputValue('#f-description')).toBe('Outlives a session.')
  })

  test('two tabs that change one agent: the later one is told, keeps what was typed, and saves it then', async () => {
    await using opened = await openSignedIn('/publish?way=form')
    const { context, page: first } = opened
    await first.fill('[name=package_name]', 'com.ada.tabs')
    await first.fill('[name=name]', 'Tabs')
    await first.fill('#f-description', 'Has two.')
    await first.fill('[name=endpoint]', agent.url)
    await first.click('button[value=publish]')
    await first.waitForURL(/com\.ada\.tabs/)
    const second = await context.newPage()
    await second.goto(`${home.url}/me/agents/com.ada.tabs`)
    const save = async (page: Page, description: string) => {
      await page.fill('#f-description', description)
      await page.getByRole('button', { name: 'Save' }).click()
    }
    await save(first, 'By the first.')
    await first.getByText('Saved.').waitFor()
    await save(second, 'By the second.')
    await second.getByRole('alert').getByText('precondition_failed').waitFor()
    expect(await second.inputValue('#f-description')).toBe('By the second.')
    await second.getByRole('button', { name: 'Save' }).click()
    await second.getByText('Saved.').waitFor()
    await first.reload()
    expect(await first.inputValue('#f-description')).toBe('By the second.')
  })

  test('back and forward lead through what was searched for while one typed', async () => {
    await using opened = await openPage(browser, `${home.url}/`)
    const { page, reports } = opened
    const found = () => page.locator('#results h2 a').first().textContent()
    await page.fill('input[type=search]', 'web page')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${home.url}/search?q=web+page`)
    await page.fill('input[type=search]', 'stock prices')
    await page.waitForURL(`${home.url}/search?q=stock+prices`)
    const best = await found()
    await page.locator('#results h2 a').first().click()
    await page.waitForURL(/\/agent\//)
    await page.goBack()
    expect(page.url()).toBe(`${home.url}/search?q=stock+prices`)
    expect([await page.inputValue('input[type=search]'), await found()]).toEqual(['stock prices', best])
    await page.goBack()
    expect(page.url()).toBe(`${home.url}/`)
    await page.goForward()
    expect([await page.inputValue('input[type=search]'), await found()]).toEqual(['stock prices', best])
    await page.goForward()
    await page.waitForURL(/\/agent\//)
    expect(reports).toEqual([])
  })
})
