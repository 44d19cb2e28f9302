import { afterAll, describe, expect, test } from 'vitest'
import { startGateway } from '../../support/gateway.ts'
import { list } from '../../support/listed.ts'

/** What the gallery of MCP servers in VS Code requires of a registry, as its public source reads the answers. */
const official = 'io.modelcontextprotocol.registry/official'

interface Row {
  readonly server: Readonly<Record<string, unknown>>
  readonly _meta: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const home = await startGateway()
for (let number = 0; number < 60; number++) {
  const name = `com.example.tides-${String(number).padStart(2, '0')}`
  await list(home, {
    package_name: name,
    description: `Tells when the sea is high at harbour ${number}.`,
    endpoints: [{ protocol: number % 3 === 0 ? 'a2a' : 'mcp', url: `https://${number}.example/tides` }],
  })
}
afterAll(() => home[Symbol.asyncDispose]())

/** A page as the gallery reads it: the first row without a text fails the page. */
async function page(parameters: string): Promise<{ rows: Row[]; cursor: string | undefined }> {
  const { json, status } = await home.request('GET', `/v0.1/servers?limit=50&version=latest${parameters}`)
  expect(status).toBe(200)
  return { rows: json.servers, cursor: json.metadata.nextCursor }
}

const nameOf = ({ server }: Row) => String(server.name)

describe('the gallery of VS Code', () => {
  test.each(['/v0.1/servers?limit=1', '/v0/servers?limit=1'])('finds the registry by %s', async (path) => {
    expect((await home.request('GET', path)).status).toBe(200)
  })

  const texts = ['name', 'description', 'version'] as const
  const facts = ['status', 'publishedAt', 'updatedAt'] as const
  test('reads texts in every row, and the official facts without which it shows nothing', async () => {
    const { rows } = await page('')
    for (const { server, _meta } of rows) {
      for (const member of texts) expect(server[member]).toMatch(/\S/)
      for (const member of facts) expect(_meta[official]?.[member]).toMatch(/\S/)
      expect(_meta[official]?.isLatest).toBe(true)
      expect(server.remotes ?? server.packages).not.toHaveLength(0)
    }
  })

  test('browses all pages by the cursor, which it does not encode', async () => {
    const first = await page('')
    expect(first.cursor).toMatch(/^[A-Za-z0-9._~-]+$/)
    const second = await page(`&cursor=${first.cursor}`)
    const names = [...first.rows, ...second.rows].map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => name.includes('tides'))).toHaveLength(60)
  })

  test('searches, and leaves the search out of the second page', async () => {
    const first = await page('&search=tides+harbour')
    expect(first.rows).toHaveLength(50)
    const second = await page(`&cursor=${first.cursor}`)
    const names = [...first.rows, ...second.rows].map(nameOf)
    expect(new Set(names).size).toBe(names.length)
    expect(second.rows.map(nameOf).every((name) => name.includes('tides'))).toBe(true)
    expect(names.filter((name) => name.includes('tides'))).toHaveLength(60)
  })

  test('looks each installed server up by its encoded name, and takes 404 for unknown', async () => {
    const path = (name: string) => `/v0.1/servers/${encodeURIComponent(name)}/versions/latest`
    const { rows } = await page('')
    const answers = await Promise.all(rows.map((row) => home.request('GET', path(nameOf(row)))))
    expect(answers.map(({ json }) => json.server.name)).toEqual(rows.map(nameOf))
    expect((await home.request('GET', path('com.example/nothing'))).status).toBe(404)
  })
})
