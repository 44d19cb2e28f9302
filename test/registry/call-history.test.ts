import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/command.ts'
import { answerJson, serveEnvelopes } from '../support/envelope-agent.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { list } from '../support/listed.ts'

const day = 86_400_000
const name = 'com.example.called'

/** An agent that does as its action says. */
function serveAgent() {
  return serveEnvelopes(({ action }, response) => {
    if (action === 'refuse')
      answerJson(response, { code: 'invalid_request', message: 'No.', detail: 'No.' }, 400)
    else if (action === 'fail') response.writeHead(500).end()
    else answerJson(response, { done: true })
  })
}

async function call(home: TestGateway, ...actions: readonly string[]): Promise<void> {
  const token = await home.token('caller')
  for (const action of actions)
    await home.request('POST', '/a2a/message', { token, body: { to: name, action, params: {} } })
}

async function listAt(home: TestGateway, url: string): Promise<void> {
  const capabilities = ['do', 'refuse', 'fail'].map((action) => ({ name: action, description: action }))
  await list(home, { package_name: name, endpoints: [{ protocol: 'envelope', url }], capabilities })
}

test('an owner reads how often an agent was called on each day, and how the calls ended', async () => {
  await using agent = await serveAgent()
  let now = Date.parse('2026-03-01T12:00:00Z')
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin }, { clock: () => now })
  await listAt(home, agent.url)
  await call(home, 'do', 'refuse')
  now += 2 * day
  await call(home, 'do', 'do', 'fail')

  const token = await home.token('owner')
  const { json } = await home.request('GET', `/api/agents/${name}/calls?days=7`, { token })
  expect(json).toEqual({
    package_name: name,
    from: '2026-02-25',
    to: '2026-03-03',
    total: { calls: 5, refused: 1, failed: 1 },
    days: [
      { date: '2026-03-01', calls: 2, refused: 1, failed: 0 },
      { date: '2026-03-03', calls: 3, refused: 0, failed: 1 },
    ],
  })
  const today = await home.request('GET', `/api/agents/${name}/calls?days=1`, { token })
  expect(today.json).toMatchObject({ from: '2026-03-03', total: { calls: 3 } })
})

test('the calls of an agent are for its owner alone, and searches and pages of others count none', async () => {
  await using agent = await serveAgent()
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: agent.origin })
  await listAt(home, agent.url)
  await home.request('GET', `/public/agents/${name}`)
  await home.request('GET', '/public/agents?q=called')
  const read = async (token: string) => await home.request('GET', `/api/agents/${name}/calls`, { token })
  const others = await read(await home.token('another'))
  expect([others.status, others.json.code]).toEqual([403, 'forbidden'])
  const own = await read(await home.token('owner'))
  expect(own.json).toMatchObject({ total: { calls: 0, refused: 0, failed: 0 }, days: [] })
})

test('the end of a gateway keeps what was counted, and the gateway that follows adds to it', async () => {
  await using agent = await serveAgent()
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path, DRAGOMAN_ALLOW_ORIGINS: agent.origin }
  {
    await using home = await startGateway(environment)
    await listAt(home, agent.url)
    await call(home, 'do', 'do')
  }
  await using home = await startGateway(environment)
  await call(home, 'do')
  const { json } = await home.request('GET', `/api/agents/${name}/calls`, {
    token: await home.token('owner'),
  })
  expect(json.total.calls).toBe(3)
})
