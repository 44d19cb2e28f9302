import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { blocks } from '../../support/documents.ts'
import { startGateway } from '../../support/gateway.ts'
import { installed } from '../../support/others.ts'

/** The page of the official registry that explains server.json by examples. */
const page = installed(
  'go/modules/github.com/modelcontextprotocol/registry@v1.8.5/docs/reference/server-json/generic-server-json.md',
)
if (!page) console.error('The documentation of the MCP registry is not here: its test is skipped.')

test.skipIf(!page)(
  'every example of a server.json of the official registry is published and read back',
  async () => {
    await using home = await startGateway()
    const token = await home.token('publisher', { scopes: ['admin'] })
    const documents = blocks(readFileSync(page ?? '', 'utf8'))
      .filter(({ info }) => info.startsWith('json'))
      .flatMap(({ code }) => (code.includes('"$schema"') ? [JSON.parse(code)] : []))
    expect(documents.length).toBeGreaterThan(10)
    const schema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
    for (const [index, example] of documents.entries()) {
      const document = { ...example, $schema: schema, version: `1.0.${index}` }
      const { status, json, text } = await home.request('POST', '/v0/publish', { body: document, token })
      expect([document.name, status], text).toEqual([document.name, 200])
      expect(json.server).toEqual(document)
      const path = `/v0/servers/${encodeURIComponent(document.name)}/versions/${document.version}`
      expect((await home.request('GET', path)).json.server).toEqual(document)
    }
  },
)
