import { expect, test } from 'vitest'
import { FailureClass, LivenessStatus } from '../../../schemas/liveness.ts'
import { livenessWeights } from '../../../src/search/index/score-weights.ts'
import { blocksOf, guideOf } from '../../support/documents.ts'
import { list } from '../../support/listed.ts'
import { serveLiving, soundAnswer, soundCard } from '../../support/living.ts'
import { run } from '../../support/processes.ts'
import { openHome } from './home.ts'

const guide = guideOf('liveness.md')

test('docs/liveness.md: the requests are answered as it says', async () => {
  await using agents = await serveLiving()
  await using home = await openHome([agents])
  agents.become('sun', { card: soundCard, endpoint: soundAnswer })
  const { manifest_url, endpoint_url } = agents.siteOf('sun')
  const endpoints = [{ protocol: 'envelope' as const, url: endpoint_url ?? '' }]
  await list(home.gateway, { package_name: 'com.example.sun', manifest_url, endpoints })
  await home.cycle()
  const token = await home.gateway.token('anybody', { scopes: ['agents:read'] })
  const ask = async (script: string) => {
    const here = script.replaceAll('http://127.0.0.1:8080', home.gateway.url).replace('curl ', 'curl -sS ')
    const { code, stdout, stderr } = await run('bash', ['-euc', `TOKEN=${token}\n${here}`]).ended
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  const [get = '', days = '', search = '', check = ''] = blocksOf(guide, 'sh')
  const [entry, history, outcome] = blocksOf(guide, 'json').map((text) => JSON.parse(text))
  expect(await ask(get)).toMatchObject(entry)
  expect(await ask(days)).toMatchObject(history)
  expect((await ask(search)).agents).toMatchObject([{ package_name: 'com.example.sun' }])
  expect(await ask(check)).toMatchObject(outcome)
})

test('docs/liveness.md has every status, every failure and every weight', () => {
  for (const word of [...LivenessStatus.options, ...FailureClass.options])
    expect(guide).toContain(`| \`${word}\` |`)
  for (const [status, weight] of Object.entries(livenessWeights)) {
    if (weight < 1) expect(guide).toMatch(new RegExp(`${weight} for \`${status}\``))
  }
})
