import { afterAll, describe, expect, test } from 'vitest'
import { sampleGateway } from '../../support/sample-site.ts'

const home = await sampleGateway()
afterAll(() => home[Symbol.asyncDispose]())

const open = async (path: string) =>
  (await home.request('GET', path, { headers: { Accept: 'text/html' } })).text

describe('the page of the status', () => {
  test('shows what the action answers', async () => {
    const status = (await home.request('GET', '/public/status')).json
    const text = await open('/status')
    expect(text).toContain('It works.')
    expect(text).toContain(status.node.id)
    expect(text).toContain(`<a href="/search">${status.agents.total}</a>`)
    expect(text).toContain('This registry mirrors no other.')
  })

  test('draws a bar for each hour with calls, with its figures in words', async () => {
    const { hours } = (await home.request('GET', '/public/status')).json
    const text = await open('/status')
    const [, drawing = ''] = /<svg viewBox="0 0 720 120"(.*?)<\/svg>/s.exec(text) ?? []
    expect(drawing.match(/<g>/g)).toHaveLength(24)
    const { at, calls, refused, failed } = hours[2]
    expect(drawing).toContain(
      `<title>${at.slice(11, 16)} UTC: ${calls} calls, ${refused} refused, ${failed} failed</title>`,
    )
    expect(drawing).not.toMatch(/NaN|Infinity|style=/)
  })

  test('has the figures as a table too', async () => {
    const text = await open('/status')
    expect(text.match(/<th scope="row"><time/g)).toHaveLength(24)
  })

  test('names the agent that fails', async () => {
    expect(await open('/status')).toMatch(/href="\/agent\/com\.example\.tides"[\s\S]*?Fails/)
  })
})

describe('the console', () => {
  test('offers the agents that a session may call, and leads to the pages of others', async () => {
    expect(await open('/play')).toContain('href="/play?agent=svc.utility.wiki#call"')
    const found = await open('/play?q=tides')
    expect(found).toContain('href="/agent/com.example.tides"')
    expect(found).not.toContain('href="/play?q=tides&amp;agent=com.example.tides"')
  })

  test('shows the form of the capability that is chosen', async () => {
    const text = await open('/play?agent=svc.utility.wiki&capability=get_summary')
    expect(text).toContain('data-agent="svc.utility.wiki" data-capability="get_summary"')
    expect(text).toContain('Without a sign-in you can call')
  })

  test('shows the steps of a session, escaped, and each as code', async () => {
    const { id } = (await home.request('POST', '/api/playground/session')).json
    const call = {
      agent: 'svc.utility.reader',
      capability: 'extract_content',
      input: { url: '</pre><script>' },
    }
    await home.request('POST', `/api/playground/session/${id}/execute`, { body: call })
    const answer = await fetch(`${home.url}/play/steps`, {
      method: 'POST',
      body: new URLSearchParams({ session: id }),
    })
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).toContain('1 extract_content')
    expect(text).toContain('&lt;/pre&gt;&lt;script&gt;')
    for (const format of ['curl', 'typescript', 'mcp']) expect(text).toContain(`id="export-${format}"`)
    expect(answer.headers.get('cache-control')).toContain('no-store')
  })

  test('refuses the steps of a session that another site asks for', async () => {
    const answer = await fetch(`${home.url}/play/steps`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'cross-site' },
      body: new URLSearchParams({ session: 'x' }),
    })
    expect(answer.status).toBe(403)
  })
})
