import { afterAll, describe, expect, test } from 'vitest'
import { Browser } from '../../support/browser.ts'
import { answerJson, serveEnvelopes } from '../../support/envelope-agent.ts'
import { startGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { instantLogin, signIn } from '../../support/sign-in.ts'

const attack = `<script>alert(1)</script><img src=x onerror=alert(2)>"'`
const answers: Readonly<Record<string, unknown>> = {
  attack: { [attack]: attack },
  large: { text: 'x'.repeat(300_000) },
  larger: { text: 'x'.repeat(5_000_000) },
  books: { status: 'input_required', agent: 'a', task_id: 't1', question: { text: 'Which day?' } },
  chooses: {
    status: 'input_required',
    agent: 'a',
    task_id: 't2',
    question: { text: 'Which?', schema: { type: 'object' } },
  },
}

const page = '/agent/com.example.echo'

const agent = await serveEnvelopes(({ action, params }, response) => {
  if (action === 'asks') return void response.writeHead(401).end()
  if (action === 'dies') return void response.destroy()
  if (action === 'html') return void response.setHeader('content-type', 'text/html').end(`<p>${attack}`)
  answerJson(response, answers[action] ?? { action, params })
})
const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin }, { logins: [instantLogin()] })
await list(home, {
  package_name: 'com.example.echo',
  endpoints: [{ protocol: 'envelope', url: agent.url }],
})
const browser = new Browser(home.url)
await signIn(browser, await browser.open(`${home.url}/sign-in`))
const { forms } = await browser.open(home.url + page)
const token = forms.find(({ action }) => action === `${page}/call`)?.fields.token ?? ''
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  await agent[Symbol.asyncDispose]()
})

const call = (capability: string, input = '{}', headers = {}) =>
  browser.post(`${home.url}${page}/call`, { token, capability, input }, headers)

describe('a call from the page of an agent', () => {
  test('reaches the agent with its input, without the cookie of the browser', async () => {
    const { status, text } = await call('say', '{"words": "hello"}')
    expect([status, text.includes('&quot;hello&quot;')]).toEqual([200, true])
    const { headers, params } = agent.received.at(-1)!
    expect([params, headers.cookie]).toEqual([{ words: 'hello' }, undefined])
  })

  test('names the place of the page that helps, where programs read the name of an action', async () => {
    const { text } = await call('asks')
    expect(text).toContain('<a href="/me/connections">Store a credential</a>')
    expect(text).not.toContain('set_credential')
  })

  test('that the agent answers with a question is continued by a form, in words or in JSON', async () => {
    const replied = async (capability: string, fields: Record<string, string>) => {
      const answered = await call(capability)
      const form = answered.forms.find((each) => 'task_id' in each.fields)
      return await browser.submit(answered, fields, form)
    }
    expect((await replied('books', { text: 'Friday' })).text).toContain('&quot;Friday&quot;')
    expect(agent.received.at(-1)).toMatchObject({
      action: 'continue_task',
      params: { task_id: 't1', input: { text: 'Friday' } },
    })
    await replied('chooses', { input: '{"day": 5}' })
    expect(agent.received.at(-1)?.params).toMatchObject({ task_id: 't2', input: { day: 5 } })
    const refused = await replied('chooses', { input: 'nonsense' })
    expect([refused.status, refused.text.includes('nonsense')]).toEqual([400, true])
  })

  test('shows an answer as text, whatever is in it', async () => {
    const { text } = await call('attack')
    expect(text).not.toMatch(/<script>alert|<img/)
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  test('shows the beginning of a long answer, and how much is left', async () => {
    const { text } = await call('large')
    expect(text.length).toBeLessThan(120_000)
    expect(text).toMatch(/2000\d\d more characters are not shown/)
  })

  test.each([
    ['larger', 502],
    ['dies', 502],
    ['html', 502],
  ])('of an agent that fails (%s) says so, and keeps what was typed', async (capability, code) => {
    const { status, text } = await call(capability, '{"typed": "before"}')
    expect([status, text.includes('{&quot;typed&quot;: &quot;before&quot;}')]).toEqual([code, true])
    expect(text).not.toContain(attack)
  })

  test.each(['[1]', 'nonsense', '"text"'])('with the input %s is refused, and keeps it', async (input) => {
    const { status, text } = await call('say', input)
    expect([status, text.includes('The input is a JSON object.')]).toEqual([400, true])
    expect(text).toContain(`spellcheck="false">${input.replaceAll('"', '&quot;')}<`)
  })

  test('of another site reaches no agent', async () => {
    const before = agent.received.length
    expect((await call('say', '{}', { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
    const forged = { token: 'guess', capability: 'say', input: '{}' }
    expect((await browser.post(`${home.url}${page}/call`, forged)).status).toBe(403)
    expect(agent.received).toHaveLength(before)
  })

  test('without a sign-in leads to the sign-in, and back to the agent', async () => {
    const stranger = new Browser(home.url)
    const { url } = await stranger.post(`${home.url}${page}/call`, { capability: 'say', input: '{}' })
    expect(url).toBe(`${home.url}/sign-in?then=${encodeURIComponent('/agent/com.example.echo')}`)
  })
})
