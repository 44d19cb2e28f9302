import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'
import { installed } from '../../support/others.ts'
import { publishedDocuments } from './documents.ts'

/** The description of its API that the official registry publishes, of 2025-12-01. */
const document = installed(
  'go/modules/github.com/modelcontextprotocol/registry@v1.8.5/docs/reference/api/openapi.yaml',
)
if (!document) console.error('The OpenAPI document of the MCP registry is not here: its test is skipped.')

describe.skipIf(!document)('answers of the API of the MCP registry', () => {
  let home: TestGateway
  let token: string
  let schemaOf: (name: string) => ValidateFunction
  beforeAll(async () => {
    const { components } = parse(readFileSync(document ?? '', 'utf8'))
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    ajv.addSchema({ $id: 'registry', components })
    schemaOf = (name) => ajv.compile({ $ref: `registry#/components/schemas/${name}` })
    home = await startGateway()
    token = await home.token('owner', { namespaces: ['com.example'] })
    const url = 'https://agent.example/a2a'
    await list(home, { package_name: 'com.example.flights', endpoints: [{ protocol: 'a2a', url }] })
    const endpoint = { protocol: 'mcp', url: 'https://agent.example/mcp' } as const
    await list(home, {
      package_name: 'com.example.weather',
      description: 'Long. '.repeat(100),
      endpoints: [
        {
          ...endpoint,
          headers: [{ name: 'X-Key', is_required: true, is_secret: true, description: 'A key.' }],
        },
      ],
    })
    for (const [index, server] of publishedDocuments().slice(0, 60).entries()) {
      const name = `com.example/real-${index}`
      await home.request('POST', '/v0.1/publish', { body: { ...server, name }, token })
    }
  })
  afterAll(() => home?.[Symbol.asyncDispose]())

  const conforms = async (path: string, name: string) => {
    const { json, status } = await home.request('GET', path)
    expect(status).toBe(200)
    const validate = schemaOf(name)
    expect(validate(json), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true)
    return json
  }

  test.each([
    '/v0.1/servers?limit=100',
    '/v0/servers?version=latest&limit=100',
    '/v0.1/servers?search=weather',
    '/v0.1/servers?updated_since=2020-01-01T00:00:00Z',
    '/v0.1/servers/com.example%2Fweather/versions',
    '/v0.1/x/io.github.dragoman/search?q=weather',
  ])('%s conform to its OpenAPI document', async (path) => {
    const { servers } = await conforms(path, 'ServerList')
    expect(servers.length).toBeGreaterThan(0)
  })

  test('of one version conform to it, also after a change of status', async () => {
    await conforms('/v0.1/servers/com.example%2Fflights/versions/latest', 'ServerResponse')
    const path = '/v0.1/servers/com.example%2Fweather'
    const changed = await home.request('PATCH', `${path}/status`, {
      body: { status: 'deprecated', statusMessage: 'Old.' },
      token,
    })
    expect(schemaOf('AllVersionsStatusResponse')(changed.json), changed.text).toBe(true)
    const shown = await conforms(`${path}/versions/latest`, 'ServerResponse')
    expect(shown._meta['io.modelcontextprotocol.registry/official'].statusMessage).toBe('Old.')
  })

  test('are refused by it without a name, so that the test can fail', () => {
    expect(schemaOf('ServerResponse')({ server: { description: 'x', version: '1' }, _meta: {} })).toBe(false)
  })
})
