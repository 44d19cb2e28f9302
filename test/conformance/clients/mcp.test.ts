import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command } from '../../support/command.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'
import { run } from '../../support/processes.ts'

const python = installed('mcp-2.3.0/bin/python')
const script = `${import.meta.dirname}/mcp_session.py`

/** A page that never answers, and tells when somebody asks for it and when he has gone. */
const requests = new EventTarget()
const page = createServer((_request, response) => {
  response.once('close', () => requests.dispatchEvent(new Event('left')))
  requests.dispatchEvent(new Event('asked'))
})
let home: TestGateway
let url: string
beforeAll(async () => {
  await once(page.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
  home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: url })
})
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  page.closeAllConnections()
  page.close()
})

/** The same outcomes as those of the SDK's own clients in TypeScript (test/transports/mcp.test.ts). */
describe.skipIf(!python).each([
  ['2025 era', 'legacy', '2025-11-25', 'HTTP'],
  ['2026-07-28', 'auto', '2026-07-28', 'HTTP'],
  ['2025 era', 'legacy', '2025-11-25', 'stdio'],
  ['2026-07-28', 'auto', '2026-07-28', 'stdio'],
])('the Python client, where .ci/run has installed it, %s (%s, %s), over %s', (_, mode, version, over) => {
  test('lists, finds, is told what went wrong, cancels, and goes on', async () => {
    const where = over === 'HTTP' ? [`${home.url}/mcp`] : ['stdio', process.execPath, command, 'mcp']
    const environment = {
      DRAGOMAN_TOKEN: await home.token('python'),
      DRAGOMAN_DATA: home.data,
      DRAGOMAN_LOG: 'silent',
      DRAGOMAN_BASE_URL: '',
      DRAGOMAN_ALLOW_ORIGINS: url,
      PORT: new URL(home.url).port,
    }
    await using client = run(python ?? '', [script, mode, ...where, `${url}/${mode}/${over}`], environment)
    const left = once(requests, 'left')
    requests.addEventListener('asked', () => client.process.stdin?.write('\n'), { once: true })
    const { stdout, stderr, code } = await client.ended
    expect(code, stderr).toBe(0)
    const notified = Object.assign(
      {},
      ...stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    expect(notified).toMatchObject({
      version,
      tools: expect.arrayContaining(['search_agents', 'resolve_package', 'call_agent']),
      found: { agents: [{ package_name: 'svc.utility.wiki' }], total: 1 },
      refused: true,
      code: 'invalid_request',
      unknown: expect.stringContaining('tool serch_agents is unknown'),
      after: false,
    })
    expect(notified.text).toEqual(notified.found)
    await left
  })
})
