import { afterAll, describe, expect, test } from 'vitest'
import { rejection } from '../net/support.ts'
import { startGateway } from '../support/gateway.ts'
import { agentAt } from '../support/mcp-agent.ts'

const home = await startGateway()
const headers = { authorization: `Bearer ${await home.token('ada')}` }
afterAll(() => home[Symbol.asyncDispose]())

describe.each([
  ['Streamable HTTP', () => `${home.url}/mcp`],
  ['WebSocket', () => `${home.url}/mcp/ws`.replace('http', 'ws')],
])('another Dragoman over %s', (_, url) => {
  test('is called, listed and probed', async () => {
    await using remote = agentAt(url())
    await remote.agent.probe(remote.call())
    const found = await remote.ask('search_agents', { query: 'encyclopedia' })
    expect(found).toHaveProperty('agents.0.package_name', 'svc.utility.wiki')
    const capabilities = await remote.agent.describe?.(remote.call())
    expect(capabilities?.map(({ name }) => name)).toContain('resolve_package')
  })

  test('fails with errors that the caller can correct, in the same words', async () => {
    await using remote = agentAt(url())
    expect(
      await rejection(remote.ask('resolve_package', { package_name: 'com.example.none' })),
    ).toMatchObject({
      code: 'not_found',
    })
    const call = remote.ask('finance_get_current_price', { symbol: '..' }, { headers })
    expect(await rejection(call)).toMatchObject({
      code: 'invalid_request',
      details: { errors: [expect.objectContaining({ pointer: '/symbol' })] },
    })
    expect(await rejection(remote.ask('no_such_tool', {}, { caller: 'eve' }))).toMatchObject({
      code: 'unknown_action',
    })
  })

  test('needs the credentials of the caller', async () => {
    await using remote = agentAt(url())
    const call = remote.ask('finance_get_current_price', { symbol: 'BTC' }, { caller: 'nobody' })
    expect(await rejection(call)).toMatchObject({ code: 'upstream_failed' })
  })
})
