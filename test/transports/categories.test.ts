import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { publication } from './cases.ts'

test('a category that a publisher invented is found by searches, and is no text of the gateway', async () => {
  await using home = await startGateway()
  const token = await home.token('seller', { namespaces: ['com.seller'] })
  for (const category of ['aaa-buy-now', 'art']) {
    const body = { ...publication(`com.seller.${category}`), category }
    const { json } = await home.request('POST', '/api/agents/publish', { token, body })
    await home.request('POST', `/api/agents/${json.id}/go-live`, { token })
  }
  const complete = modernRequest(1, 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'find_agent' },
    argument: { name: 'category', value: 'a' },
  })
  const completion = await fetch(`${home.url}/mcp`, {
    method: 'POST',
    headers: modernHeaders('completion/complete'),
    body: JSON.stringify(complete),
  })
  expect(messageIn(await completion.text())).toMatchObject({
    result: { completion: { values: ['art'], total: 1 } },
  })

  const { text: page } = await home.request('GET', '/', { headers: { Accept: 'text/html' } })
  expect(page).toContain('href="/search?category=art">')
  expect(page).not.toMatch(/aaa-buy-now/i)

  const { text: manifest } = await home.request('GET', '/.well-known/ard.json')
  expect(manifest).toContain('/ard/catalogs/art"')
  expect(manifest).not.toContain('aaa-buy-now')

  expect((await home.request('GET', '/ard/catalogs/aaa-buy-now')).status).toBe(200)
  const { json: found } = await home.request('GET', '/public/agents?category=aaa-buy-now&facets=true')
  expect(found).toMatchObject({ total: 1, facets: { categories: { 'aaa-buy-now': 1 } } })
})
