import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { orderedText } from '../../../schemas/json.ts'
import { documentOf, fieldsOf, readServer } from '../../../src/registry/catalog/server-json.ts'
import { startGateway } from '../../support/gateway.ts'
import { operate } from '../mirror/mirror-run.ts'

interface Line {
  readonly server: { readonly name: string; readonly version: string; readonly [member: string]: unknown }
  readonly _meta: Readonly<Record<string, unknown>>
}

const file = resolve(import.meta.dirname, '../../../../shared/data/official.jsonl')
const lines: Line[] = existsSync(file)
  ? readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
  : []
if (lines.length === 0)
  console.error('The documents that people published are not here: their tests are skipped.')

const official = 'io.modelcontextprotocol.registry/official'

describe.skipIf(lines.length === 0)(`the ${lines.length} documents that people published`, () => {
  test('are all imported, and are served as they were, with what their registry states of them', async () => {
    await using subject = await startGateway()
    for (let start = 0; start < lines.length; start += 200) {
      const texts = lines.slice(start, start + 200).map((line) => JSON.stringify(line))
      const { rejected } = await operate(subject.gateway, 'import_entries', {
        lines: texts,
        first_line: start + 1,
      })
      expect(rejected).toEqual([])
    }
    const served = new Map<string, string>()
    let cursor: string | undefined
    do {
      const query = new URLSearchParams({ limit: '100', ...(cursor && { cursor }) })
      const { json } = await subject.request('GET', `/v0.1/servers?${query}`)
      for (const { server } of json.servers)
        served.set(`${server.name} ${server.version}`, orderedText(server))
      cursor = json.metadata.nextCursor
    } while (cursor)
    // Of two lines with one name and version the later one counts.
    const last = new Map(lines.map(({ server }) => [`${server.name} ${server.version}`, orderedText(server)]))
    expect([...last].filter(([key, text]) => served.get(key) !== text).map(([key]) => key)).toEqual([])
    const ours = [...served.keys()].filter((key) => key.startsWith('svc'))
    expect(served.size).toBe(last.size + ours.length)
  })

  test('say in the fields of entries how they are run, without loss', () => {
    for (const { server } of lines) {
      const document = readServer(server)
      const fields = fieldsOf(document)
      const made = documentOf({ ...fields, server: null }, { name: document.name, version: document.version })
      const remotes = (document.remotes ?? []).filter(({ url }) => URL.canParse(url)).slice(0, 20)
      const stated = (made.remotes ?? []) as object[]
      expect(stated.map(withoutNulls), document.name).toEqual(remotes.map(onlyRemote))
      expect((made.packages ?? []) as object[], document.name).toHaveLength((document.packages ?? []).length)
      const clean = (document.packages ?? []).filter((item) => !isOdd(item))
      const rendered = ((made.packages ?? []) as { identifier: string }[]).map(withoutNulls)
      for (const item of clean) expect(rendered).toContainEqual(withoutNulls(item))
    }
  })

  test('state their life under the key of the official registry', () => {
    expect(lines.filter(({ _meta }) => _meta[official] === undefined)).toEqual([])
  })
})

function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** What the schema names of a remote. */
function onlyRemote({ type, url, headers, variables }: Record<string, unknown>): unknown {
  return withoutNulls({ type: type || 'streamable-http', url, headers, variables })
}

/** What the official registry accepted beside its schema is not in the fields. */
function isOdd(item: object): boolean {
  const text = JSON.stringify(item)
  return /"type":""|"name":""/.test(text) || /"format":"(?!string|number|boolean|filepath)/.test(text)
}
