import { afterAll, describe, expect, test } from 'vitest'
import type { Action } from '../../schemas/action.ts'
import { commandOf } from '../../schemas/commands.ts'
import { registryName } from '../../schemas/names.ts'
import { scopes } from '../../schemas/scope.ts'
import { localPerson } from '../../src/auth/authenticator.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { openStdio } from '../support/connections.ts'
import { startGateway } from '../support/gateway.ts'
import { modernRequest } from '../support/mcp.ts'
import { changing, forbidden } from '../support/model-rights.ts'
import { openTransports } from '../support/transports.ts'

const home = await startGateway()
const transports = openTransports(home).filter(({ model }) => model !== undefined)
const tokens = {
  nobody: undefined,
  caller: await home.token('caller', { scopes: ['agents:read', 'a2a:call'] }),
  publisher: await home.token('publisher', { scopes: scopes.filter((scope) => scope !== 'admin') }),
  admin: await home.token('admin', { scopes: ['admin'] }),
}
afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const hosted = () =>
  home.gateway.agents.flatMap((agent) => agent.actions.map((action) => ({ to: agent.package_name, action })))

/** True for an action that changes what is stored, handles a secret or needs an operator. */
function isPowerful({ effect, secret, access }: Action): boolean {
  return effect === 'write' || secret === true || (typeof access === 'object' && access.scope === 'admin')
}

describe('a language model', () => {
  test('has a row in the tables for each action that changes, mints or administers', () => {
    const powerful = hosted().flatMap(({ action }) => (isPowerful(action) ? [action.name] : []))
    expect([...new Set(powerful)].sort()).toEqual([...changing, ...forbidden].sort())
  })

  test.each(forbidden)(
    'may not call %s, with any token, whatever its user lets it manage',
    async (action) => {
      const to = toOf(action)
      for (const transport of transports)
        for (const token of Object.values(tokens)) {
          const outcome = await transport.call({ to, action, params: {} }, token)
          expect([transport.name, outcome]).toEqual([transport.name, { code: 'forbidden' }])
        }
    },
  )

  test.each(changing)('may call %s only where its user lets it manage', async (action) => {
    const to = toOf(action)
    for (const transport of transports.filter(({ model }) => model === 'reads'))
      for (const token of Object.values(tokens)) {
        const outcome = await transport.call({ to, action, params: {} }, token)
        expect([transport.name, outcome]).toEqual([transport.name, { code: 'forbidden' }])
      }
  })

  test('reads nothing with the rights of an operator', async () => {
    const params = {
      name: 'Hidden',
      description: 'Hides.',
      package_name: 'acme.hidden',
      capabilities: [{ name: 'hide', description: 'Hides.' }],
    }
    const published = await home.request('POST', '/api/agents/publish', {
      body: params,
      token: String(tokens.publisher),
    })
    expect(published.status).toBe(201)
    const envelope = { to: 'svc.registry', action: 'get_agent', params: { agent: 'acme.hidden' } }
    const byRest = await home.request('GET', '/api/agents/acme.hidden', { token: String(tokens.admin) })
    expect(byRest.status).toBe(200)
    for (const transport of transports) {
      expect([transport.name, await transport.call(envelope, tokens.admin)]).toEqual([
        transport.name,
        { code: 'not_found' },
      ])
      expect([transport.name, await transport.call(envelope, tokens.publisher)]).toEqual([
        transport.name,
        { output: expect.objectContaining({ package_name: 'acme.hidden' }) },
      ])
    }
  })

  test('publishes, goes live and deletes over stdio where its user lets it manage', async () => {
    const stdio = transports.filter(({ model }) => model === 'manages')
    expect(stdio).toHaveLength(1)
    for (const transport of stdio) {
      const params = {
        name: 'Own',
        description: 'Is of the user.',
        package_name: 'acme.own',
        capabilities: [{ name: 'act', description: 'Acts.' }],
      }
      const to = 'svc.registry'
      const outcomes = [
        await transport.call({ to, action: 'publish', params }, tokens.publisher),
        await transport.call({ to, action: 'go_live', params: { agent: 'acme.own' } }, tokens.publisher),
        await transport.call({ to, action: 'delete', params: { agent: 'acme.own' } }, tokens.publisher),
      ]
      for (const outcome of outcomes) expect(outcome).toHaveProperty('output')
    }
  })

  test.each([
    [false, ['agents:read', 'a2a:call']],
    [true, scopes.filter((scope) => scope !== 'admin')],
  ] as const)('acts over stdio as the person at this machine (managing: %s)', async (manages, expected) => {
    const person = localPerson(manages)
    expect([person.issuer, person.subject, [...person.scopes]]).toEqual([
      'urn:dragoman:local',
      'person:local',
      expected,
    ])
    const service = createMcpService(home.gateway, '1', () => {})
    await using peer = openStdio(service, () => person)
    peer.send(
      modernRequest(1, 'tools/call', {
        name: 'call_agent',
        arguments: { package_name: 'svc.registry', action: 'get_usage', params: {} },
      }),
    )
    expect(await peer.answer(1)).toMatchObject({ result: { structuredContent: expect.anything() } })
  })

  test.each([
    ['create_key', 'dragoman apikey create'],
    ['approve_package', 'only a person may decide this'],
  ])('reads in a refusal of %s what to ask the user for: %s', async (action, expected) => {
    const [http] = transports
    const answer = await home.request('POST', '/mcp', {
      body: modernRequest(1, 'tools/call', {
        name: 'call_agent',
        arguments: { package_name: 'svc.registry', action, params: {} },
      }),
      headers: {
        accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2026-07-28',
        'Mcp-Method': 'tools/call',
        'Mcp-Name': 'call_agent',
      },
      token: String(tokens.publisher),
    })
    expect(http).toBeDefined()
    expect(answer.status).toBe(200)
    expect(answer.text).toContain(expected)
    expect(answer.text).not.toContain('dragoman allow')
  })

  test('is told the command of each registry action that it may not call', () => {
    const ofRegistry = [...changing, ...forbidden].filter((action) => toOf(action) === registryName)
    const without = ['delete_personal_data', 'log_in_by_domain', 'purge', 'set_server_status']
    expect(ofRegistry.filter((action) => commandOf[action] === undefined).sort()).toEqual(without)
  })
})

function toOf(name: string): string {
  const found = hosted().find(({ action }) => action.name === name && isPowerful(action))
  if (!found) throw new Error(`No hosted agent has the action ${name}.`)
  return found.to
}
