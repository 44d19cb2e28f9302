import { afterAll, describe, expect, test } from 'vitest'
import { publishedFields } from '../../schemas/entry-fields.ts'
import { localIssuer } from '../../schemas/identity.ts'
import type { Json } from '../../schemas/json.ts'
import type { Publication } from '../../schemas/publication.ts'
import { entryBytes, maxEntryBytes } from '../../src/registry/entry/entry-size.ts'
import { a2aVersion } from '../support/a2a.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway } from '../support/gateway.ts'
import { messageIn, modernHeaders, modernRequest } from '../support/mcp.ts'
import { restTransport } from '../support/rest-transport.ts'
import { type Outcome, openTransports, type TestTransport, writable } from '../support/transports.ts'

const names = [
  'envelope',
  'envelope over WebSocket',
  'JSON-RPC over HTTP',
  'JSON-RPC over WebSocket',
  'MCP over stdio',
  'A2A over JSON-RPC',
  'A2A over HTTP+JSON',
  'REST',
]

const home = await startGateway()
const owner = await home.token('owner')
const transports = [...writable(openTransports(home)), restTransport(home)]
afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const small = (package_name: string): Publication & { package_name: string } => ({
  package_name,
  name: 'A large agent',
  description: 'Large.',
  license: 'x',
  capabilities: [{ name: 'fill', description: 'Fills.', input_schema: { description: '' } }],
})

/** A publication whose entry has this size. The schema counts twice, in the card too; the licence counts once. */
function publicationOf(package_name: string, bytes: number): ReturnType<typeof small> {
  const least = small(package_name)
  const left = bytes - entryBytes(sampleEntry(least as object))
  const input_schema = { description: 'é'.repeat(Math.floor(left / 4)) }
  const license = 'x'.repeat(1 + (left % 4))
  return { ...least, license, capabilities: [{ name: 'fill', description: 'Fills.', input_schema }] }
}

function through(name: string): TestTransport {
  const transport = transports.find((candidate) => candidate.name === name)
  if (!transport) throw new Error(`There is no ${name}.`)
  return transport
}

function ask(name: string, action: string, params: object): Promise<Outcome> {
  return through(name).call({ to: 'svc.registry', action, params }, owner)
}

const codeOf = (outcome: Outcome) => ('code' in outcome ? outcome.code : 'ok')
const outputOf = (outcome: Outcome) => {
  if ('code' in outcome) throw new Error(outcome.code)
  return outcome.output as { [name: string]: Json }
}
let made = 0
const freshName = () => `com.large.agent-${String(++made).padStart(4, '0')}`
const revision = () => home.gateway.store.read.revision()
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

const over = maxEntryBytes + 1

test('every transport whose callers may write is in the table', () => {
  expect(transports.map(({ name }) => name).sort()).toEqual(names.toSorted())
})

describe.each(names)('by %s', (name) => {
  test.each([
    ['one byte below the bound', maxEntryBytes - 1],
    ['at the bound', maxEntryBytes],
  ])('a publication %s is listed', async (_, bytes) => {
    const package_name = freshName()
    const output = outputOf(await ask(name, 'publish', publicationOf(package_name, bytes)))
    const { manifest_url: __, ...stated } = Object.fromEntries(
      [...publishedFields, 'card'].map((field) => [field, output[field]]),
    )
    expect(bytesOf({ ...stated, manifest_url: null })).toBe(bytes)
    expect(outputOf(await ask(name, 'get_agent', { agent: package_name }))).toEqual(output)
  })

  test('a publication one byte above the bound is refused and does not happen', async () => {
    const package_name = freshName()
    const before = await revision()
    expect(codeOf(await ask(name, 'publish', publicationOf(package_name, over)))).toBe('too_large')
    expect(codeOf(await ask(name, 'get_agent', { agent: package_name }))).toBe('not_found')
    const found = await ask(name, 'search_agents', {
      filters: { mine: true, state: 'STAGE' },
      sort: 'name',
      limit: 100,
    })
    expect(JSON.stringify(outputOf(found).agents)).not.toContain(package_name)
    expect(await revision()).toBe(before)
    expect(codeOf(await ask(name, 'publish', publicationOf(package_name, maxEntryBytes)))).toBe('ok')
  })

  test('a publication with a key is answered alike when it is sent again', async () => {
    const [taken, refused] = [freshName(), freshName()]
    const send = async (package_name: string, bytes: number) =>
      ask(name, 'publish', { ...publicationOf(package_name, bytes), idempotency_key: package_name })
    expect(outputOf(await send(taken, maxEntryBytes))).toEqual(outputOf(await send(taken, maxEntryBytes)))
    expect(codeOf(await send(refused, over))).toBe('too_large')
    expect(codeOf(await send(refused, over))).toBe('too_large')
  })

  test('an update at the bound is made, and one a byte above it is not', async () => {
    const agent = freshName()
    await ask(name, 'publish', small(agent))
    const update = async (bytes: number) => {
      const { package_name: _, ...fields } = publicationOf(agent, bytes)
      return await ask(name, 'update', { agent, ...fields })
    }
    expect(codeOf(await update(over))).toBe('too_large')
    expect(outputOf(await ask(name, 'get_agent', { agent }))).toMatchObject(small(agent))
    const grown = outputOf(await update(maxEntryBytes))
    expect(grown).toMatchObject(publicationOf(agent, maxEntryBytes))
    expect(codeOf(await update(over))).toBe('too_large')
    expect(outputOf(await ask(name, 'get_agent', { agent }))).toEqual(grown)
  })

  test('an agent at the bound goes live, is deprecated and unpublished, and everybody reads it meanwhile', async () => {
    const agent = freshName()
    await ask(name, 'publish', publicationOf(agent, maxEntryBytes))
    expect(outputOf(await ask(name, 'go_live', { agent }))).toMatchObject({ state: 'ACTIVE' })
    const read = (action: string, params: object) =>
      through(name).call({ to: 'svc.registry', action, params }, undefined)
    expect(outputOf(await read('get_agent', { agent }))).toMatchObject(publicationOf(agent, maxEntryBytes))
    expect(outputOf(await read('resolve_package', { package_name: agent })).package_name).toBe(agent)
    expect(outputOf(await read('get_card', { agent })).name).toBe('A large agent')
    const found = outputOf(await read('search_agents', { query: agent, limit: 1 }))
    expect(found.agents).toMatchObject([{ package_name: agent }])
    const message = 'x'.repeat(500)
    expect(codeOf(await ask(name, 'deprecate', { agent, message }))).toBe('ok')
    expect(codeOf(await ask(name, 'unpublish', { agent }))).toBe('ok')
    expect(codeOf(await ask(name, 'delete', { agent }))).toBe('ok')
  })
})

const capability = (name: string, more: object) => ({ name, description: 'Fills.', ...more })
const text = (characters: number) => 'x'.repeat(characters)

/** Entries that become longer than their size in one of their other forms. */
const shapes: readonly (readonly [string, Partial<Publication>])[] = [
  [
    'many capabilities under long tags',
    {
      tags: Array.from({ length: 50 }, (_, at) => `${text(40)}${at}`),
      capabilities: Array.from({ length: 80 }, (_, at) => capability(`c${at}`, {})),
    },
  ],
  ['many small values', { capabilities: [capability('values', { input_schema: { enum: zeros(60_000) } })] }],
  [
    'long descriptions',
    {
      capabilities: Array.from({ length: 20 }, (_, at) => ({ name: `c${at}`, description: text(4000) })),
    },
  ],
  [
    'long endpoints',
    {
      endpoints: Array.from({ length: 20 }, (_, at) => ({
        protocol: 'a2a' as const,
        url: `https://large.example/${text(2000)}${at}`,
        binding: text(200),
        tenant: text(300),
      })),
    },
  ],
]

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0)
}

async function published(fields: Partial<Publication>): Promise<string> {
  const package_name = freshName()
  outputOf(await ask('envelope', 'publish', { ...small(package_name), ...fields }))
  outputOf(await ask('envelope', 'go_live', { agent: package_name }))
  return package_name
}

async function toolsOf(name: string): Promise<unknown[]> {
  const answer = await fetch(`${home.url}/mcp/agents/${name}`, {
    method: 'POST',
    headers: modernHeaders('tools/list'),
    body: JSON.stringify(modernRequest(1, 'tools/list', {})),
  })
  const { result } = messageIn(await answer.text()) as { result: { tools: unknown[] } }
  return result.tools
}

describe('an entry near the bound', () => {
  test.each([...shapes, ['a long schema', publicationOf('com.large.agent-0000', maxEntryBytes)] as const])(
    'with %s has a signed card for each version of A2A, and tools',
    async (_, { package_name: __, ...fields }) => {
      const name = await published(fields)
      for (const headers of [{}, a2aVersion]) {
        const path = `/a2a/v1/${name}/.well-known/agent-card.json`
        const { status, json } = await home.request('GET', path, { headers })
        expect([status, json.signatures?.length > 0]).toEqual([200, true])
      }
      expect((await toolsOf(name)).length).toBeGreaterThan(0)
      expect((await home.request('GET', `/agents/${name}/.well-known/agent-card.json`)).status).toBe(200)
    },
  )

  test('with a small card of its own has a standard card that no answer refuses', async () => {
    const entry = sampleEntry({
      package_name: freshName(),
      tags: Array.from({ length: 50 }, (_, at) => `${text(48)}${at}`),
      capabilities: Array.from({ length: 200 }, (_, at) => ({ name: `c${at}`, description: text(1250) })),
      card: { name: 'Small', description: 'Small.' },
    })
    expect(entryBytes(entry)).toBeGreaterThan(maxEntryBytes - 10_000)
    expect(entryBytes(entry)).toBeLessThanOrEqual(maxEntryBytes)
    const { store, tailer } = home.gateway
    const { revision } = await store.write((writer) => writer.put(entry))
    await tailer.caughtUp(revision)
    const path = `/a2a/v1/${entry.package_name}/.well-known/agent-card.json`
    const { status, json } = await home.request('GET', path)
    expect([status, json.skills?.length]).toEqual([200, 200])
  })

  test('may have tags that its card repeats for each capability only within the bound', async () => {
    const [[, many]] = shapes as [(typeof shapes)[number]]
    const capabilities = Array.from({ length: 200 }, (_, at) => capability(`c${at}`, {}))
    const refused = await ask('envelope', 'publish', { ...small(freshName()), ...many, capabilities })
    expect(codeOf(refused)).toBe('too_large')
  })

  test('is valid at the bound and invalid above it, before it is published', async () => {
    const validate = async (bytes: number) => {
      const publication = publicationOf('com.large.agent-0000', bytes)
      const { valid, findings } = outputOf(await ask('envelope', 'validate', { publication }))
      return [valid, (findings as { code: string }[]).map(({ code }) => code)]
    }
    expect(await validate(maxEntryBytes)).toEqual([true, []])
    expect(await validate(over)).toEqual([false, ['too_large']])
  })

  test('names what to shorten when it is refused', async () => {
    const token = owner
    const body = publicationOf(freshName(), over)
    const { status, json } = await home.request('POST', '/api/agents/publish', { token, body })
    expect([status, json.code, json.errors]).toEqual([
      413,
      'too_large',
      [{ pointer: '/capabilities', detail: expect.stringMatching(/^It has \d+ bytes/) }],
    ])
    expect(json.detail).toContain(`${over} bytes`)
    expect(json.detail).toContain(`${maxEntryBytes}`)
    expect(json.retryable).toBe(false)
  })
})

describe('an entry from before the bound', () => {
  async function older(name: string, state: 'STAGE' | 'ACTIVE', characters: number) {
    const capabilities = [capability('fill', { input_schema: { description: text(characters) } })]
    const { store, tailer } = home.gateway
    const entry = sampleEntry({
      package_name: name,
      state,
      capabilities,
      verification_level: 'unverified',
      owner: { issuer: localIssuer, subject: 'owner', namespace: null },
    })
    const { revision } = await store.write((writer) => writer.put(entry))
    await tailer.caughtUp(revision)
    return entry
  }

  test.each(names)('is hidden, suspended and deleted by %s, and each answer arrives', async (name) => {
    const agent = freshName()
    const { id } = await older(agent, 'ACTIVE', 700_000)
    const shown = { id, state: 'STAGE', capabilities: [] }
    expect(outputOf(await ask(name, 'unpublish', { agent }))).toMatchObject(shown)
    const admin = await home.token('root', { scopes: ['admin'] })
    const params = { agent, suspended: true, reason: 'Too large.' }
    const suspending = through(name).model === undefined ? name : 'envelope'
    const suspended = await through(suspending).call({ to: 'svc.registry', action: 'suspend', params }, admin)
    expect(outputOf(suspended)).toMatchObject(shown)
    expect(codeOf(await ask(name, 'delete', { agent }))).toBe('ok')
  })

  test('is read as before, shrinks and does not grow or go live', async () => {
    const agent = freshName()
    await older(agent, 'STAGE', 200_000)
    const get = await home.request('GET', `/api/agents/${agent}`, { token: owner })
    expect([get.status, get.json.capabilities[0].input_schema.description.length]).toEqual([200, 200_000])
    expect(codeOf(await ask('envelope', 'go_live', { agent }))).toBe('too_large')
    expect(codeOf(await ask('envelope', 'update', { agent, license: 'MIT' }))).toBe('too_large')
    const schema = (characters: number) => ({
      agent,
      capabilities: [capability('fill', { input_schema: { description: text(characters) } })],
    })
    expect(codeOf(await ask('envelope', 'update', schema(150_000)))).toBe('ok')
    expect(codeOf(await ask('envelope', 'update', schema(150_001)))).toBe('too_large')
    expect(codeOf(await ask('envelope', 'update', schema(100_000)))).toBe('ok')
    expect(codeOf(await ask('envelope', 'go_live', { agent }))).toBe('ok')
  })
})
