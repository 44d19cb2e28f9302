import { expect, test } from 'vitest'
import { maxStoredCalls } from '../../src/router/idempotency.ts'
import { deprecatedWeight } from '../../src/search/index/score-weights.ts'
import { blocks, guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { run } from '../support/processes.ts'
import { publication } from '../support/registry.ts'

const guide = guideOf('versions.md')

test('docs/versions.md: the requests are answered as documented, also when repeated', async () => {
  await using home = await startGateway()
  const token = await home.token('ada')
  const first = { description: 'Forecasts for any town.', version: '1.0.0' }
  for (const body of [publication('com.example.weather', first), publication('com.example.climate')]) {
    expect((await home.request('POST', '/api/agents/publish', { body, token })).status).toBe(201)
    await home.request('POST', `/api/agents/${body.package_name}/go-live`, { token })
  }
  const ask = async (script: string) => {
    const here = script.replaceAll('http://127.0.0.1:8080', home.url).replace('curl ', 'curl -sS ')
    const { code, stdout, stderr } = await run('bash', ['-euc', `TOKEN=${token}\n${here}`]).ended
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  let result: unknown
  let requests = 0
  for (const { info, code: text } of blocks(guide)) {
    if (info === 'json') expect(result).toMatchObject(JSON.parse(text))
    if (info === 'sh') {
      result = await ask(text)
      requests += 1
      if (text.includes('Idempotency-Key')) expect(await ask(text)).toEqual(result)
    }
  }
  expect(requests).toBe(6)
})

test('docs/versions.md has the weight and the bound that hold', () => {
  expect(guide).toContain(`multiplies its score by ${deprecatedWeight} `)
  expect(guide).toContain(`the newest ${maxStoredCalls.toLocaleString('en')} are stored`)
})
