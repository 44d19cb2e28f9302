import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import { describe, expect, test } from 'vitest'
import { supportedVersions } from '../../src/transports/mcp/views/server-card.ts'
import { startGateway } from '../support/gateway.ts'

const file = (name: string) =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../..', name), 'utf8')) as Record<string, unknown>

describe('the MCP server card', () => {
  test.each(['/mcp/server-card', '/.well-known/mcp/server-card.json', '/.well-known/mcp.json'])(
    'at %s names the endpoint of MCP, for any page, and is cached',
    async (path) => {
      await using home = await startGateway({ DRAGOMAN_BASE_URL: 'https://agents.example.com/gateway' })
      const { status, headers, json } = await home.request('GET', path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/mcp-server-card+json')
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('cache-control')).toBe('public, max-age=3600')
      expect(json).toEqual({
        $schema: 'https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json',
        name: 'com.example.agents/dragoman',
        version: file('package.json').version,
        title: 'Dragoman',
        description: expect.stringMatching(/^.{1,100}$/),
        remotes: [
          {
            type: 'streamable-http',
            url: 'https://agents.example.com/gateway/mcp',
            supportedProtocolVersions: [...supportedVersions],
          },
        ],
      })
      const etag = headers.get('etag') ?? ''
      expect((await home.request('GET', path, { headers: { 'If-None-Match': etag } })).status).toBe(304)
    },
  )

  test('names the revisions that are really supported', async () => {
    expect(supportedVersions.slice(1)).toEqual(SUPPORTED_PROTOCOL_VERSIONS)
    await using home = await startGateway()
    const { json } = await home.request('GET', '/mcp/server-card')
    expect(json.name).toBe('localhost/dragoman')
    expect(json.remotes[0].url).toBe(`${home.url}/mcp`)
  })
})

test('server.json, for the MCP registry, agrees with package.json', () => {
  const { name, version, mcpName, bin } = file('package.json')
  const server = file('server.json') as { packages: Record<string, unknown>[]; description: string }
  expect(server).toMatchObject({
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    version,
    packages: [{ registryType: 'npm', identifier: name, version, transport: { type: 'stdio' } }],
  })
  expect(String(mcpName)).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
  expect(server.description).toMatch(/^.{1,100}$/)
  expect(Object.keys(bin as object)).toEqual(['dragoman'])
  // An unscoped name that nobody has published yet would belong to whoever publishes it first.
  expect(name).toMatch(/^@[a-z-]+\/dragoman$/)
})
