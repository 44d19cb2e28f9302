import { randomBytes } from 'node:crypto'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLoginLink } from '../../../src/auth/authorization-server/login-link.ts'
import { startUpstreamServer, type UpstreamServer } from '../../support/authorization-server.ts'
import { chromiumPath, openPage as openIn } from '../../support/chromium.ts'
import { type DnsServer, serveDns } from '../../support/dns.ts'
import { type EnvelopeAgent, serveEnvelopes } from '../../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { type GuardedServer, startGuardedServer } from '../../support/guarded-servers.ts'
import { list } from '../../support/listed.ts'
import { createTestRunner } from '../../support/package-runner.ts'
import { instantLogin } from '../../support/sign-in.ts'

const notes = {
  name: 'com.example/notes',
  description: 'Keeps notes.',
  version: '1.0.0',
  packages: [
    { registryType: 'npm', identifier: 'notes-server', version: '1.0.0', transport: { type: 'stdio' } },
  ],
}

let dns: DnsServer
let upstream: UpstreamServer
let mail: GuardedServer
let echo: EnvelopeAgent
let home: TestGateway
let browser: Browser

describe.skipIf(!chromiumPath)('a person in Chromium, where it is installed', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    dns = await serveDns()
    upstream = await startUpstreamServer({})
    mail = await startGuardedServer(upstream.issuer)
    echo = await serveEnvelopes()
    const login = instantLogin({ namespaces: [] })
    home = await startGateway(
      {
        DRAGOMAN_DNS_SERVERS: dns.address,
        DRAGOMAN_ALLOW_ORIGINS: [upstream.issuer, mail.origin, echo.origin].join(),
      },
      { logins: [login], runner: createTestRunner({ 'notes-server': ['1.0.0'] }) },
    )
    await list(home, { package_name: 'com.example.mail', endpoints: [{ protocol: 'mcp', url: mail.url }] })
    await home.request('POST', '/a2a/message', {
      body: {
        to: 'svc.registry',
        action: 'import_entries',
        params: { lines: [JSON.stringify({ server: notes })] },
      },
      token: await home.token('root', { scopes: ['admin'] }),
    })
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  })

  afterAll(async () => {
    await browser?.close()
    for (const each of [home, echo, mail, upstream, dns]) await each?.[Symbol.asyncDispose]()
  })

  const openPage = (path: string) => openIn(browser, home.url + path)

  const saysDone = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

  /** Publishes the record that the page of the verification shows. */
  async function publishRecord(page: Page) {
    const value = await page.locator('#proof-dns').textContent()
    const [name = ''] = ((await page.locator('.card dd').first().textContent()) ?? '').split(' ')
    dns.txt(name, value ?? '')
  }

  /** How a person operates a page. */
  interface Hand {
    press(name: string): Promise<void>
    type(label: string, text: string): Promise<void>
    choose(label: string, option: string): Promise<void>
  }

  const mouse = (page: Page): Hand => ({
    async press(name) {
      const [links, buttons, details] = [
        page.getByRole('link', { name, exact: true }),
        page.getByRole('button', { name, exact: true }),
        page.locator('summary', { hasText: name }),
      ]
      await links.or(buttons).or(details).first().click()
    },
    type: (label, text) => page.getByLabel(label, { exact: true }).fill(text),
    async choose(label, option) {
      await page.getByLabel(label).selectOption({ label: option })
    },
  })

  const keyboard = (page: Page): Hand => {
    /** Walks with Tab until the element that has the focus is the one of this name. */
    async function walkTo(name: string) {
      for (let step = 0; step < 120; step++) {
        await page.keyboard.press('Tab')
        const focused = page.evaluate(`(() => {
          const focused = document.activeElement
          return (focused.labels?.[0]?.textContent ?? focused.ariaLabel ?? focused.textContent).trim()
        })()`)
        // Enter before may have led to another page meanwhile.
        const at = await focused.catch(() => page.waitForLoadState())
        if (at === name) return
      }
      throw new Error(`The focus never reaches ${name}.`)
    }
    async function type(label: string, text: string) {
      await walkTo(label)
      await page.keyboard.type(text)
    }
    return {
      async press(name) {
        await walkTo(name)
        await page.keyboard.press('Enter')
      },
      type,
      choose: type,
    }
  }

  test.each([
    ['mouse', mouse],
    ['keyboard', keyboard],
  ] as const)(
    'takes an agent through its whole life with the %s alone',
    { timeout: 60_000 },
    async (kind, handOf) => {
      await using opened = await openPage('/')
      const { page, reports } = opened
      const { press, type, choose } = handOf(page)
      // A try of its own when it runs again.
      const hand = `${kind}-${randomBytes(2).toString('hex')}`
      await press('Publish')
      await press('Continue with Example')
      await press('By hand')
      await type('Package name', `com.ada-${hand}.echo`)
      await type('Name', `Echo by ${hand}`)
      await type('What it does', `Repeats what it is told, by ${hand}.`)
      await type('Address at which it is called', echo.url)
      await choose('Protocol', 'Envelope')
      // What is to be corrected is shown while one types.
      await page.locator('#findings .note').waitFor()
      expect(await page.textContent('#announcement')).toBe(await page.textContent('#findings .note'))
      await press('Publish to STAGE')
      await saysDone(page, 'It is listed in STAGE')

      await press('Verify the domain')
      await press('Show the record')
      await page.locator('#proof-dns').waitFor()
      await publishRecord(page)
      await press('Check now')
      await saysDone(page, 'The domain is proved.')
      await press('Go live')
      await saysDone(page, 'It is live')

      await press('Browse')
      await type('What do you need done?', `repeats what it is told by ${hand}`)
      await page.waitForURL(/q=repeats.*(mouse|keyboard)/)
      await press(`Echo by ${hand}`)
      await page.getByText('Domain verified').first().waitFor()
      await type('Name of the capability', 'repeat')
      await press('Call it')
      await page.getByRole('heading', { name: 'Answer' }).waitFor()
      expect(await page.locator('#answer pre').textContent()).toContain('"action": "repeat"')

      await press('Ada')
      await press(`Echo by ${hand}`)
      await type('What callers should know', 'It goes away.')
      await press('Deprecate')
      await saysDone(page, 'It is deprecated.')
      await press('Delete')
      await press('Delete it now')
      await saysDone(page, 'The agent is deleted.')
      expect(reports).toEqual([])
    },
  )

  test('calls an agent whose fields are named like parts of a form', async () => {
    const names = ['dataset', 'elements', 'querySelector', 'addEventListener']
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    await list(home, {
      package_name: 'com.example.fields',
      endpoints: [{ protocol: 'envelope', url: echo.url }],
      capabilities: [{ name: 'draw', description: 'Draws.', input_schema: { type: 'object', properties } }],
    })
    await using opened = await openPage('/sign-in/with/example')
    const { page, reports } = opened
    await page.goto(`${home.url}/agent/com.example.fields`)
    for (const name of names) await page.getByLabel(name, { exact: true }).fill(`of ${name}`)
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.locator('.answer pre').waitFor()
    const { params } = JSON.parse((await page.locator('.answer pre').textContent()) ?? '')
    expect(Object.entries(params)).toEqual(names.map((name) => [name, `of ${name}`]))
    expect(reports).toEqual([])
  })

  test('says no to an agent, or leaves what it does by default', async () => {
    const boolean = { type: 'boolean', default: true }
    const properties = { links: boolean, images: boolean, whole: { type: 'boolean' } }
    const capability = {
      name: 'read',
      description: 'Reads.',
      input_schema: { type: 'object', properties, required: ['whole'] },
    }
    await list(home, {
      package_name: 'com.example.choices',
      endpoints: [{ protocol: 'envelope', url: echo.url }],
      capabilities: [capability],
    })
    await using opened = await openPage('/sign-in/with/example')
    const { page } = opened
    await page.goto(`${home.url}/agent/com.example.choices`)
    await page.getByLabel('links', { exact: true }).selectOption('false')
    const images = page.getByLabel('images', { exact: true })
    expect(await images.locator('option:checked').textContent()).toBe('true (default)')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.getByText('This is required.').waitFor()
    await page.getByLabel('whole', { exact: true }).selectOption('false')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.locator('.answer pre').waitFor()
    const { params } = JSON.parse((await page.locator('.answer pre').textContent()) ?? '')
    expect(params).toEqual({ links: false, whole: false })
  })

  test('connects an upstream, and calls it in their own name from its page', async () => {
    await using opened = await openPage('/sign-in/with/example')
    const { page, reports } = opened
    await page.goto(`${home.url}/me/connections?agent=com.example.mail`)
    await page.getByRole('button', { name: 'Sign in to an agent' }).click()
    await page.getByRole('button', { name: /Continue to/ }).click()
    await page.getByText('is connected').waitFor()
    await page.goto(`${home.url}/me/connections`)
    await page.getByText('sign-in at').waitFor()

    await page.goto(`${home.url}/agent/com.example.mail`)
    await page.getByLabel('Name of the capability').fill('whoami')
    await page.getByRole('button', { name: 'Call it' }).click()
    await page.locator('#answer pre').waitFor()
    expect(await page.locator('#answer pre').textContent()).toContain('subject')
    expect(mail.calls).toHaveLength(1)
    expect(reports.filter((line) => !line.includes('favicon'))).toEqual([])
  })

  test('approves a package as the operator of the machine, and calls it', async () => {
    const code = await createLoginLink(home.gateway.store.signIn, Date.now, randomBytes)
    await using opened = await openPage(`/sign-in/link?code=${code}`)
    const { page, reports } = opened
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.goto(`${home.url}/me/packages?agent=com.example%2Fnotes`)
    await page.getByRole('button', { name: 'Show what would run' }).click()
    await page.getByText('This would run').waitFor()
    await page.getByRole('button', { name: 'Approve exactly this' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await page.getByRole('link', { name: 'Public page' }).click()
    expect(await page.locator('.able').count()).toBeGreaterThan(0)
    expect(reports).toEqual([])
  })
})
