import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRecord } from '../../../../schemas/json.ts'
import { startGateway, type TestGateway } from '../../../support/gateway.ts'
import { list } from '../../../support/listed.ts'
import { installed } from '../../../support/others.ts'
import { run } from '../../../support/processes.ts'

const python = installed('fastmcp-4.1.2/bin/python')
const script = (name: string) => `${import.meta.dirname}/${name}`

interface Behaviour {
  readonly name: string
  readonly value: unknown
  readonly events: readonly unknown[]
}

const package_name = 'com.example.toolbox'

/** What a client may see differently through the gateway (docs/calling.md, What is not passed as it is). */
function withoutListed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutListed)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key.startsWith('dragoman/')) return []
    if (key === 'message' && typeof inner === 'string')
      return [[key, inner.replace(`${package_name} asks: `, '')]]
    const plain = withoutListed(inner)
    return key === '_meta' && isRecord(plain) && Object.keys(plain).length === 0 ? [] : [[key, plain]]
  })
  return Object.fromEntries(entries)
}

describe.skipIf(!python)('FastMCP, where .ci/run has installed it', () => {
  let server: ReturnType<typeof run>
  let gateway: TestGateway
  let direct: string
  let token: string

  beforeAll(async () => {
    server = run(python ?? '', [script('server.py')])
    const lines = createInterface({ input: server.process.stdout as NodeJS.ReadableStream })
    const [port] = await once(lines, 'line')
    direct = `http://127.0.0.1:${port}/mcp`
    gateway = await startGateway({ DRAGOMAN_ALLOW_ORIGINS: new URL(direct).origin })
    await list(gateway, { package_name, endpoints: [{ protocol: 'mcp', url: direct }] })
    token = await gateway.token('ada')
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    await gateway?.[Symbol.asyncDispose]()
  })

  async function behaviours(mode: string, url: string, CLIENT_TOKEN = ''): Promise<Map<string, Behaviour>> {
    await using client = run(python ?? '', [script('client.py'), mode, url], { CLIENT_TOKEN })
    const { stdout, stderr, code } = await client.ended
    expect(code, stderr).toBe(0)
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Behaviour)
    return new Map(found.map((behaviour) => [behaviour.name, behaviour]))
  }

  test.each([
    ['the revisions with initialize', 'legacy'],
    ['2026-07-28', 'auto'],
  ])('behaves through the gateway as it does when it is called directly, in %s', async (_, mode) => {
    const through = behaviours(mode, `${gateway.url}/mcp/agents/${package_name}`, token)
    const [own, passed] = [await behaviours(mode, direct), await through]
    expect(own.size).toBeGreaterThanOrEqual(34)
    const different = [...own].flatMap(([name, { value, events }]) => {
      const found = passed.get(name)
      const left = withoutListed({ value, events })
      const right = withoutListed({ value: found?.value, events: found?.events })
      return isDeepStrictEqual(left, right) ? [] : [{ name, direct: left, through: right }]
    })
    expect(different).toEqual([])
  })
})
