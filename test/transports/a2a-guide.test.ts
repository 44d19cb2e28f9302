import { expect, test } from 'vitest'
import { blocks, guideOf, shell } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'
import { replay } from '../support/replay.ts'

test('every request in docs/a2a.md is answered', async () => {
  await using page = await replay({
    'GET /': { headers: { 'Content-Type': 'text/html' }, body: '<html><body><p>A page.</p></body></html>' },
  })
  await using home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: page.url })
  const token = await home.token('me')
  const requests = blocks(guideOf('a2a.md')).filter(({ code }) => code.startsWith('curl'))
  const answers = requests.map(async ({ code }) => {
    const here = code
      .replaceAll('http://127.0.0.1:8080', home.url)
      .replaceAll('https://example.com/', `${page.url}/`)
    return await shell(`TOKEN=${token}\n${here.replace('curl ', 'curl -sS ')}`)
  })
  expect(await Promise.all(answers)).toEqual([
    expect.stringContaining('svc.utility.reader'),
    expect.stringContaining('A page.'),
    expect.stringMatching(/"TASK_STATE_SUBMITTED"[\s\S]*A page\.[\s\S]*"TASK_STATE_COMPLETED"/),
    expect.stringContaining('"kind":"message"'),
  ])
})

test('an agent that does not accept text names its actions', async () => {
  await using home = await startGateway()
  const { json } = await home.request('POST', '/a2a/v1/svc.utility.finance/message:send', {
    body: { message: { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'the price of gold' }] } },
    headers: { 'A2A-Version': '1.0' },
  })
  expect(json.error.message).toContain('It has: get_current_price')
})
