import { afterAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { publication } from '../transports/cases.ts'

const home = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: 'http://127.0.0.1:4001' })
const token = await home.token('local', { namespaces: ['com.local'] })
afterAll(() => home[Symbol.asyncDispose]())

const publish = (name: string, url: string) =>
  home.request('POST', '/api/agents/publish', {
    token,
    body: { ...publication(`com.local.${name}`), endpoints: [{ protocol: 'mcp', url }] },
  })

test.each([
  ['loopback', 'http://127.0.0.1:4000/mcp', 'http://127.0.0.1:4000'],
  ['name', 'http://localhost:4000/mcp', 'http://localhost:4000'],
  ['network', 'https://192.168.1.5/mcp', 'https://192.168.1.5'],
  ['ipv6', 'http://[::1]:4000/mcp', 'http://[::1]:4000'],
])(
  'a publication with an endpoint at a private address (%s) is accepted with a warning',
  async (name, url, origin) => {
    const { status, json } = await publish(name, url)
    expect(status).toBe(201)
    expect(json.warnings).toEqual([
      {
        severity: 'warning',
        code: 'private_address',
        field: '/endpoints/0/url',
        message: `${new URL(url).host} is not a public address, so this gateway does not call it.`,
        suggestion: expect.stringContaining(`DRAGOMAN_ALLOW_ORIGINS=${origin}.`),
      },
    ])
  },
)

test('an update warns of the addresses that it states, and of no others', async () => {
  const { json } = await publish('updated', 'https://agent.example.com/mcp')
  expect(json.warnings).toBeUndefined()
  const update = (body: object) => home.request('PUT', `/api/agents/${json.id}`, { token, body })
  const endpoints = [{ protocol: 'mcp', url: 'http://10.0.0.1/mcp' }]
  expect((await update({ endpoints })).json.warnings).toHaveLength(1)
  expect((await update({ description: 'Another description.' })).json.warnings).toBeUndefined()
})

test('an origin that the operator allows is no reason to warn', async () => {
  expect((await publish('allowed', 'http://127.0.0.1:4001/mcp')).json.warnings).toBeUndefined()
})
