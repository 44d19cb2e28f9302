import { randomBytes } from 'node:crypto'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLoginLink } from '../../../src/auth/authorization-server/login-link.ts'
import { startUpstreamServer, type UpstreamServer } from '../../support/authorization-server.ts'
import { chromiumPath } from '../../support/chromium.ts'
import { type DnsServer, serveDns } from '../../support/dns.ts'
import { type EnvelopeAgent, serveEnvelopes } from '../../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { type GuardedServer, startGuardedServer } from '../../support/guarded-servers.ts'
import { list } from '../../support/listed.ts'
import { createTestRunner } from '../../support/package-runner.ts'
import { instantLogin } from '../../support/sign-in.ts'

const timeout = 60_000

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

describe.skipIf(!chromiumPath)('a person in Chromium, where it is installed', () => {
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
  }, timeout)

  afterAll(async () => {
    await browser?.close()
    for (const each of [home, echo, mail, upstream, dns]) await each?.[Symbol.asyncDispose]()
  })

  async function openPage(path: string) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
    const page = await context.newPage()
    const reports: string[] = []
    page.on('console', (message) => reports.push(message.text()))
    page.on('pageerror', (error) => reports.push(String(error)))
    await page.goto(home.url + path)
    return { page, reports, [Symbol.asyncDispose]: () => context.close() }
  }

  const saysDone = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

  /** Publishes the record that the page of the verification shows. */
  async function publishRecord(page: Page) {
    const value = await page.locator('#proof-dns').textContent()
    const [name = ''] = ((await page.locator('.card dd').first().textContent()) ?? '').split(' ')
    dns.txt(name, value ?? '')
  }

  test(
    'takes an agent through its whole life with the mouse',
    async () => {
      await using opened = await openPage('/')
      const { page, reports } = opened
      await page.getByRole('link', { name: 'Publish' }).click()
      await page.getByRole('link', { name: 'Continue with Example' }).click()
      await page.getByRole('link', { name: 'By hand' }).click()
      const name = 'com.ada-echo.echo'
      await page.getByLabel('Package name').fill(name)
      await page.getByLabel('Name', { exact: true }).fill('Echo')
      await page.getByLabel('What it does').fill('Repeats what it is told.')
      await page.getByLabel('Address at which it is called').fill(echo.url)
      await page.getByLabel('Protocol').selectOption('envelope')
      // What is to be corrected is shown while one types.
      await page.locator('#findings .note').waitFor()
      await page.getByRole('button', { name: 'Publish to STAGE' }).click()
      await saysDone(page, 'It is listed in STAGE')

      await page.getByRole('link', { name: 'Verify the domain' }).click()
      await page.getByRole('button', { name: 'Show the record' }).click()
      await page.locator('#proof-dns').waitFor()
      await publishRecord(page)
      await page.getByRole('button', { name: 'Check now' }).click()
      await saysDone(page, 'The domain is proved.')
      await page.getByRole('button', { name: 'Go live' }).click()
      await saysDone(page, 'It is live')

      await page.goto(`${home.url}/search`)
      await page.getByRole('searchbox').fill('repeats what it is told')
      await page.waitForURL(/q=repeats/)
      await page.getByRole('link', { name: 'Echo', exact: true }).click()
      expect(await page.getByText('Domain verified').first().isVisible()).toBe(true)

      await page.goto(`${home.url}/me/agents/${name}`)
      await page.getByLabel('What callers should know').fill('It goes away.')
      await page.getByRole('button', { name: 'Deprecate' }).click()
      await saysDone(page, 'It is deprecated.')
      await page.getByText('Delete', { exact: true }).last().click()
      await page.getByRole('button', { name: 'Delete it now' }).click()
      await saysDone(page, 'The agent is deleted.')
      expect(reports).toEqual([])
    },
    timeout,
  )

  test(
    'publishes, calls and deletes an agent with the keyboard alone',
    async () => {
      await using opened = await openPage('/sign-in/with/example')
      const { page, reports } = opened
      const { keyboard } = page

      /** Walks with Tab until the element that has the focus is the one of this name. */
      async function tabTo(name: string) {
        for (let step = 0; step < 120; step++) {
          await keyboard.press('Tab')
          const at = await page.evaluate(`(() => {
          const focused = document.activeElement
          const label = focused.labels?.[0]?.textContent ?? focused.ariaLabel ?? focused.textContent
          return label.trim()
        })()`)
          if (at === name) return
        }
        throw new Error(`The focus never reaches ${name}.`)
      }

      await page.goto(`${home.url}/publish?way=form`)
      await tabTo('Package name')
      await keyboard.type('com.example.keys')
      await tabTo('Name')
      await keyboard.type('Keys')
      await tabTo('What it does')
      await keyboard.type('Is found and called by keys.')
      await tabTo('Address at which it is called')
      await keyboard.type(echo.url)
      await tabTo('Protocol')
      await keyboard.type('Envelope')
      await tabTo('Publish to STAGE')
      await keyboard.press('Enter')
      await saysDone(page, 'It is listed in STAGE')
      await tabTo('Go live')
      await keyboard.press('Enter')
      await saysDone(page, 'It is live')
      await tabTo('Public page')
      await keyboard.press('Enter')
      await page.waitForURL(/\/agent\//)
      await tabTo('Name of the capability')
      await keyboard.type('repeat')
      await tabTo('Call it')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Answer' }).waitFor()
      expect(await page.locator('#answer pre').textContent()).toContain('"action": "repeat"')
      await page.goto(`${home.url}/me/agents/com.example.keys`)
      await tabTo('Delete')
      await keyboard.press('Enter')
      await tabTo('Delete it now')
      await keyboard.press('Enter')
      await saysDone(page, 'The agent is deleted.')
      expect(reports).toEqual([])
    },
    timeout,
  )

  test(
    'connects an upstream, and calls it in their own name from its page',
    async () => {
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
    },
    timeout,
  )

  test(
    'approves a package as the operator of the machine, and calls it',
    async () => {
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
    },
    timeout,
  )
})
