import { expect, test } from 'vitest'
import { Browser, type Visited } from '../../support/browser.ts'
import { sampleEntry } from '../../support/entries.ts'
import { startGateway } from '../../support/gateway.ts'
import { startRegistryReplay } from '../../support/official-registry.ts'
import { instantLogin, signIn, signInOperator } from '../../support/sign-in.ts'

const server = {
  name: 'com.example/weather',
  description: 'Forecasts rain.',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: 'https://weather.example.com/mcp' }],
}

/** The form of a page with this value of `do`. */
function formOf(page: Visited, act: string) {
  const form = page.forms.find(({ fields }) => fields.do === act)
  if (!form) throw new Error(`No form does ${act}: ${page.text}`)
  return form
}

test('the operator mirrors a registry on the page, runs it again and removes it', async () => {
  await using registry = await startRegistryReplay([server] as never)
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: registry.url })
  const { mirrors } = home.gateway
  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const empty = await browser.open(`${home.url}/me/registry`)
  expect(formOf(empty, 'mirror').fields.source).toBe('official')
  const refused = await browser.submit(empty, { source: 'no address' }, formOf(empty, 'mirror'))
  expect(refused.status).toBe(400)
  expect(refused.text).toContain('aria-invalid="true"')

  const added = await browser.submit(refused, { source: `${registry.url}/v0.1` }, formOf(refused, 'mirror'))
  expect(added.text).toContain('The mirror is added.')
  const [{ name = '' } = {}] = await mirrors.list()
  await browser.submit(added, {}, formOf(added, 'run_mirror'))
  await mirrors.ended(name)
  const run = await browser.open(`${home.url}/me/registry`)
  expect(run.text).toContain(registry.url)
  const found = await browser.open(`${home.url}/search?q=rain`)
  expect(found.text).toContain('com.example/weather')

  const removed = await browser.submit(run, {}, formOf(run, 'remove_mirror'))
  expect(removed.text).toContain('The mirror is removed')
  expect(await mirrors.list()).toEqual([])
  expect((await browser.open(`${home.url}/search?q=rain`)).text).not.toContain('com.example/weather')
})

test('the operator reads a report on the page, suspends the agent with a reason, and shows it again', async () => {
  await using home = await startGateway({}, { logins: [instantLogin()] })
  const name = 'com.example.tides'
  await home.gateway.store.write((writer) => writer.put(sampleEntry({ package_name: name, state: 'ACTIVE' })))
  const reader = new Browser(home.url)
  await signIn(reader, await reader.open(`${home.url}/me`))
  const form = await reader.open(`${home.url}/agent/${name}/report`)
  await reader.submit(form, { reason: 'broken', detail: 'It <b>never</b> answers.' }, form.forms.at(-1))

  const browser = new Browser(home.url)
  await signInOperator(home, browser)
  const page = await browser.open(`${home.url}/me/registry`)
  expect(page.text).toContain('It &lt;b&gt;never&lt;/b&gt; answers.')
  const chosen = await browser.open(`${home.url}/me/registry?agent=${name}`)
  expect(formOf(chosen, 'suspend').fields.agent).toBe(name)
  const bare = await browser.submit(chosen, { reason: ' ' }, formOf(chosen, 'suspend'))
  expect([bare.status, bare.text.includes('A suspension needs a reason')]).toEqual([400, true])
  const suspended = await browser.submit(bare, { reason: 'It is broken.' }, formOf(bare, 'suspend'))
  expect(suspended.text).toContain('It is broken.')
  expect((await reader.open(`${home.url}/agent/${name}`)).status).toBe(404)
  const lifted = await browser.submit(suspended, {}, formOf(suspended, 'lift'))
  expect(lifted.text).toContain('The agent is shown again.')
  expect((await reader.open(`${home.url}/agent/${name}`)).status).toBe(200)
})

test('nobody else sees or does any of it', async () => {
  await using home = await startGateway({}, { logins: [instantLogin()] })
  const browser = new Browser(home.url)
  await signIn(browser, await browser.open(`${home.url}/me`))
  const page = await browser.open(`${home.url}/me/registry`)
  expect(page.text).toContain('dragoman mirror add official')
  expect(page.forms).toEqual([])
  const keys = await browser.open(`${home.url}/me/keys`)
  const token = keys.forms[0]?.fields.token ?? ''
  for (const fields of [
    { do: 'mirror', source: 'official' },
    { do: 'suspend', agent: 'svc.utility.wiki', reason: 'x' },
  ]) {
    const forged = await browser.post(`${home.url}/me/registry`, { token, ...fields })
    expect([forged.status, forged.text.includes('<code>forbidden</code>')]).toEqual([403, true])
  }
  const unknown = await browser.post(`${home.url}/me/registry`, { token, do: 'constructor' })
  expect([unknown.status, unknown.url]).toEqual([200, `${home.url}/me/registry`])
})
