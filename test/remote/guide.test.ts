import { expect, test } from 'vitest'
import { codes } from '../../schemas/failure.ts'
import { inputRequiredIn } from '../../schemas/task.ts'
import { blocksOf, guideOf } from '../support/documents.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'
import { run } from '../support/processes.ts'

const guide = guideOf('calling.md')

test('docs/calling.md: the requests get the answers that it shows', async () => {
  await using agent = await serveEnvelopes(({ headers, params }, response) =>
    answerJson(response, { ...params, key: headers['x-api-key'] ?? null }),
  )
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
  await list(home, {
    package_name: 'com.example.weather',
    endpoints: [{ protocol: 'envelope', url: agent.url }],
    capabilities: [{ name: 'forecast', description: 'The weather of tomorrow.' }],
  })
  const token = await home.token('me')
  const [call = '', store = ''] = blocksOf(guide, 'sh')
  const ask = async (script: string) => {
    const here = script.replaceAll('http://127.0.0.1:8080', home.url).replaceAll('curl ', 'curl -sS ')
    const { code, stdout, stderr } = await run('bash', ['-euc', `TOKEN=${token}\n${here}`]).ended
    expect(code, stderr).toBe(0)
    return JSON.parse(stdout)
  }
  expect(await ask(call)).toEqual({ city: 'Oslo', key: null })
  expect(await ask(store)).toMatchObject({
    agent: 'com.example.weather',
    header: 'x-api-key',
    origin: agent.origin,
  })
  expect(await ask(call)).toEqual({ city: 'Oslo', key: 'KEY' })
})

test('docs/calling.md: the shown input_required is the real answer', () => {
  const [shown = ''] = blocksOf(guide, 'json')
  expect(inputRequiredIn(JSON.parse(shown))).toBeDefined()
})

test('docs/calling.md: the codes in its table exist', () => {
  const table = guide.slice(guide.indexOf('## Errors'))
  const named = [...table.matchAll(/`([a-z]+_[a-z_]+)`/g)].map(([, code = '']) => code)
  const others = ['retry_after_s', 'read_only', 'dragoman_remote_seconds']
  expect(named.filter((code) => !Object.hasOwn(codes, code) && !others.includes(code))).toEqual([])
})
