import { afterAll, describe, expect, test } from 'vitest'
import type { Json } from '../../schemas/json.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import { everyScope, startGateway } from '../support/gateway.ts'
import { restTransport } from '../support/rest-transport.ts'
import { rounds } from '../support/rounds.ts'
import { type Outcome, openTransports, type TestTransport } from '../support/transports.ts'

const callers = ['anonymous', 'owner', 'other', 'holder', 'admin'] as const
type Caller = (typeof callers)[number]
const states = ['STAGE', 'ACTIVE', 'suspended', 'deleted'] as const
type State = (typeof states)[number]

type Row = Readonly<Record<Caller, string>>
const row = (anonymous: string, owner: string, other: string, holder: string, admin: string): Row => ({
  anonymous,
  owner,
  other,
  holder,
  admin,
})

const no = 'not_found'
const who = 'unauthenticated'
const bare = 'not_installable'
const lacking = 'not_callable'
const hiddenFromAll = row(no, no, no, no, no)
const nobodySigned = row(who, no, no, no, no)
/** Outcomes of reads: public entries; entries visible to some callers; hidden entries. */
const reads: Readonly<Record<State, Row>> = {
  STAGE: row(no, 'ok', no, 'ok', 'ok'),
  ACTIVE: row('ok', 'ok', 'ok', 'ok', 'ok'),
  suspended: row(no, 'ok', no, 'ok', 'ok'),
  deleted: hiddenFromAll,
}
/** Writes for the owner, a holder of the namespace and admins only; `mine` is their outcome. */
const writes = (stage: string, active: string, suspended: string): Readonly<Record<State, Row>> => ({
  STAGE: row(who, stage, no, stage, stage),
  ACTIVE: row(who, active, 'forbidden', active, active),
  suspended: row(who, suspended, no, suspended, suspended),
  deleted: nobodySigned,
})

interface AuditAction {
  readonly action: string
  readonly params?: Record<string, Json>
  readonly expected: Readonly<Record<State, Row>>
  /** The field that names the agent. */
  readonly by?: string
}

/** Every action on one agent, by every kind of caller, in every state. */
const matrix: readonly AuditAction[] = [
  { action: 'get_agent', expected: reads },
  { action: 'get_card', expected: reads },
  // Only hosted agents have one, and none of the entries is hosted here.
  {
    action: 'get_extended_card',
    expected: {
      STAGE: row(who, lacking, no, lacking, lacking),
      ACTIVE: row(who, lacking, lacking, lacking, lacking),
      suspended: row(who, lacking, no, lacking, lacking),
      deleted: nobodySigned,
    },
  },
  { action: 'resolve_package', expected: reads, by: 'package_name' },
  {
    action: 'list_versions',
    expected: { ...reads, deleted: row(no, 'ok', no, 'ok', 'ok') },
  },
  { action: 'get_liveness_history', expected: reads },
  {
    action: 'get_call_history',
    expected: {
      STAGE: row(who, 'ok', no, 'ok', 'ok'),
      ACTIVE: row(who, 'ok', 'forbidden', 'ok', 'ok'),
      suspended: row(who, 'ok', no, 'ok', 'ok'),
      deleted: nobodySigned,
    },
  },
  {
    action: 'diff_versions',
    // A version that each entry has had, and what is listed.
    params: { from: 'latest', to: 'latest' },
    expected: reads,
  },
  {
    action: 'install_config',
    // The entries state nothing that could be installed.
    expected: {
      STAGE: row(no, bare, no, bare, bare),
      ACTIVE: row(bare, bare, bare, bare, bare),
      suspended: row(no, bare, no, bare, bare),
      deleted: hiddenFromAll,
    },
  },
  {
    action: 'audit',
    expected: {
      STAGE: row(who, 'ok', no, 'ok', 'ok'),
      ACTIVE: row(who, 'ok', 'forbidden', 'ok', 'ok'),
      suspended: row(who, 'ok', no, 'ok', 'ok'),
      deleted: row(who, 'ok', no, 'ok', 'ok'),
    },
  },
  { action: 'update', params: { description: 'Changed.' }, expected: writes('ok', 'ok', 'ok') },
  { action: 'go_live', expected: writes('ok', 'wrong_state', 'suspended') },
  { action: 'unpublish', expected: writes('wrong_state', 'ok', 'suspended') },
  { action: 'delete', expected: writes('ok', 'ok', 'ok') },
  { action: 'transfer', params: { subject: 'heir' }, expected: writes('ok', 'ok', 'suspended') },
  {
    action: 'accept_transfer',
    expected: {
      STAGE: row(who, 'wrong_state', no, 'wrong_state', 'wrong_state'),
      ACTIVE: row(who, 'wrong_state', 'wrong_state', 'wrong_state', 'wrong_state'),
      suspended: row(who, 'wrong_state', no, 'wrong_state', 'wrong_state'),
      deleted: nobodySigned,
    },
  },
  {
    action: 'check',
    expected: {
      STAGE: row(who, 'ok', no, 'ok', 'ok'),
      ACTIVE: row(who, 'ok', 'ok', 'ok', 'ok'),
      suspended: row(who, 'ok', no, 'ok', 'ok'),
      deleted: nobodySigned,
    },
  },
  { action: 'verify', params: { domain: 'elsewhere.org' }, expected: writes('ok', 'ok', 'suspended') },
  {
    action: 'claim',
    params: { domain: 'elsewhere.org' },
    expected: {
      STAGE: row(who, 'wrong_state', no, 'ok', 'ok'),
      ACTIVE: row(who, 'wrong_state', 'ok', 'ok', 'ok'),
      suspended: row(who, 'suspended', no, 'suspended', 'suspended'),
      deleted: nobodySigned,
    },
  },
  { action: 'deprecate', params: { message: 'Use another.' }, expected: writes('ok', 'ok', 'ok') },
  {
    action: 'suspend',
    params: { reason: 'Because.' },
    expected: {
      STAGE: row(who, 'forbidden', 'forbidden', 'forbidden', 'ok'),
      ACTIVE: row(who, 'forbidden', 'forbidden', 'forbidden', 'ok'),
      suspended: row(who, 'forbidden', 'forbidden', 'forbidden', 'wrong_state'),
      deleted: row(who, 'forbidden', 'forbidden', 'forbidden', no),
    },
  },
  {
    action: 'approve_package',
    // The entries have no packages.
    expected: {
      STAGE: row(who, 'forbidden', 'forbidden', 'forbidden', 'not_callable'),
      ACTIVE: row(who, 'forbidden', 'forbidden', 'forbidden', 'not_callable'),
      suspended: row(who, 'forbidden', 'forbidden', 'forbidden', 'not_callable'),
      deleted: row(who, 'forbidden', 'forbidden', 'forbidden', no),
    },
  },
  {
    action: 'revoke_approval',
    expected: {
      STAGE: row(who, 'forbidden', 'forbidden', 'forbidden', no),
      ACTIVE: row(who, 'forbidden', 'forbidden', 'forbidden', no),
      suspended: row(who, 'forbidden', 'forbidden', 'forbidden', no),
      deleted: row(who, 'forbidden', 'forbidden', 'forbidden', no),
    },
  },
  {
    action: 'report',
    params: { reason: 'broken' },
    expected: {
      STAGE: row(who, 'ok', no, 'ok', 'ok'),
      ACTIVE: row(who, 'ok', 'ok', 'ok', 'ok'),
      suspended: row(who, 'ok', no, 'ok', 'ok'),
      deleted: nobodySigned,
    },
  },
]

const namespace = 'com.held'
const owner = { issuer: 'urn:dragoman:local', subject: 'owner', namespace: null }
const secret = 'Xylocarp'

/** Each row is checked at every fourth transport, the next row at others; in `npm run soak`, at every one. */
const step = 4 / rounds(4)
const transportsOf = (row: number) => transports.filter((_, number) => (number + row) % step === 0)
const slots = () => Math.ceil(transports.length / step)

const nameOf = (slot: number, { action }: AuditAction, state: State, caller: Caller) =>
  `${namespace}.d${slot}.${action}-${state}-${caller}`.toLowerCase()

function entryIn(state: State, package_name: string): StoredEntry {
  return sampleEntry({
    package_name,
    name: state === 'ACTIVE' ? 'Open' : secret,
    description: state === 'ACTIVE' ? 'Open to all.' : `${secret} does this.`,
    tags: state === 'ACTIVE' ? ['open'] : ['hidden-tag'],
    category: state === 'ACTIVE' ? 'open' : 'hidden-category',
    target: state === 'ACTIVE' ? 'open' : 'hidden-target',
    state: state === 'STAGE' ? 'STAGE' : 'ACTIVE',
    suspended: state === 'suspended' ? { reason: 'It lied.', at: '2026-01-01T00:00:00.000Z' } : null,
    deleted: state === 'deleted',
    verification_level: 'unverified',
    owner,
    capabilities: [{ name: 'act', description: state === 'ACTIVE' ? 'Acts.' : `${secret} acts.` }],
  })
}

/** One entry for each cell and each transport that checks it, since most actions change their entry. */
async function fill(): Promise<void> {
  const { result, revision } = await home.gateway.store.write(async (writer) => {
    let count = 0
    for (let slot = 0; slot < slots(); slot++)
      for (const matrixRow of matrix)
        for (const state of states)
          for (const caller of callers) {
            await writer.put(entryIn(state, nameOf(slot, matrixRow, state, caller)))
            count += 1
          }
    return count
  })
  expect(result).toBe(slots() * matrix.length * states.length * callers.length)
  for (let left = 50; left > 0 && home.gateway.tailer.applied_revision < revision; left--) {
    await home.gateway.tailer.caughtUp(revision)
  }
}

// All rows together publish more a day than one owner may.
const home = await startGateway({ DRAGOMAN_QUOTAS: 'off' })
// What models may do is less, and has a table of its own.
const transports = [...openTransports(home).filter(({ model }) => model === undefined), restTransport(home)]
const tokens = {
  anonymous: undefined,
  owner: await home.token('owner'),
  other: await home.token('other', { namespaces: ['com.held.elsewhere'] }),
  holder: await home.token('holder', { namespaces: [namespace] }),
  admin: await home.token('root', { scopes: [...everyScope, 'admin'] }),
}
await fill()
afterAll(async () => {
  for (const transport of transports) await transport[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const codeOf = (outcome: Outcome) => ('code' in outcome ? outcome.code : 'ok')

/** The results of a row of the matrix at one transport, as the table writes it. */
async function tableOf(
  transport: TestTransport,
  number: number,
  matrixRow: AuditAction,
): Promise<Record<State, Record<Caller, string>>> {
  const cells = states.flatMap((state) => callers.map((caller) => [state, caller] as const))
  const codes = await Promise.all(
    cells.map(async ([state, caller]) => {
      const agent = nameOf(number, matrixRow, state, caller)
      const params = { [matrixRow.by ?? 'agent']: agent, ...matrixRow.params }
      const envelope = { to: 'svc.registry', action: matrixRow.action, params }
      return [state, caller, codeOf(await transport.call(envelope, tokens[caller]))] as const
    }),
  )
  const table = Object.fromEntries(states.map((state) => [state, {}])) as Record<
    State,
    Record<Caller, string>
  >
  for (const [state, caller, code] of codes) table[state][caller] = code
  return table
}

// Runs before all rows of the matrix: hidden entries appear in no public read.
describe('of entries that are in STAGE, suspended or deleted', () => {
  const strangers: Caller[] = ['anonymous', 'other', 'owner', 'admin']
  const questions: Record<string, Record<string, Json>> = {
    'a list': { limit: 100, facets: true },
    'a search by its words': { query: secret, limit: 100, facets: true },
    'a search by its name': { query: 'com.held.d0.update-stage-owner', limit: 100 },
    'a search by its tag': { filters: { tags: ['hidden-tag'] }, facets: true },
    'a search by its category': { filters: { category: 'hidden-category' }, facets: true },
    'a search by its target': { filters: { target: 'hidden-target' }, facets: true },
    'a list by name': { sort: 'name', limit: 100 },
    'a list of the newest': { sort: 'newest', limit: 100 },
  }

  test.each(Object.entries(questions))(
    'no entry is in %s, for any caller at any transport',
    async (_, params) => {
      for (const transport of transports) {
        for (const caller of strangers) {
          const outcome = await transport.call(
            { to: 'svc.registry', action: 'search_agents', params },
            tokens[caller],
          )
          expect(codeOf(outcome)).toBe('ok')
          const text = JSON.stringify('output' in outcome ? outcome.output : outcome)
          expect(text).not.toContain(secret)
          expect(text).not.toMatch(/hidden-|-stage-|-suspended-|-deleted-/)
        }
      }
    },
  )

  test('no entry is counted, on any page or behind any cursor', async () => {
    const active = slots() * matrix.length * callers.length
    const names: string[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { json } = await home.request('GET', `/public/agents?limit=100&sort=name&target=open${query}`)
      expect(json.total).toBe(active)
      names.push(...json.agents.map((agent: { package_name: string }) => agent.package_name))
      cursor = json.next_cursor
    } while (cursor !== null)
    expect(new Set(names).size).toBe(active)
    expect(names.every((name) => name.includes('-active-'))).toBe(true)
    const { json } = await home.request('GET', '/public/agents?facets=true')
    expect(Object.keys(json.facets.targets).sort()).toEqual(['developer', 'open'])
  })

  test('no entry is suggested for a misspelt name', async () => {
    const answer = await home.request('GET', '/public/agents/com.held.d0.update-stage-owne')
    expect(answer.status).toBe(404)
    expect(answer.text).not.toMatch(/nearest.*-stage-/)
  })

  test('its owner finds all that is not deleted by asking for their own', async () => {
    const each = slots() * matrix.length * callers.length
    const mine = (query: string) =>
      home.request('GET', `/public/agents?mine=true${query}`, { token: tokens.owner as string })
    expect((await mine('')).json.total).toBe(3 * each)
    expect((await mine('&state=STAGE')).json.total).toBe(each)
    const suspended = (await mine(`&q=${secret}&limit=100`)).json.agents.find(
      (agent: { suspended: unknown }) => agent.suspended !== null,
    )
    expect(suspended.suspended).toMatchObject({ reason: 'It lied.' })
  })

  test('an own name that is taken is updated, and the error says how', async () => {
    const package_name = nameOf(0, matrix[0] as AuditAction, 'ACTIVE', 'owner')
    const body = {
      package_name,
      name: 'x',
      description: 'x.',
      capabilities: [{ name: 'a', description: 'b' }],
    }
    const token = (await home.token('owner')) as string
    const { json } = await home.request('POST', '/api/agents/publish', { body, token })
    expect(json).toMatchObject({
      code: 'conflict',
      hint: expect.stringContaining(`Change ${package_name} with PUT /api/agents/AGENT.`),
    })
  })

  test('a taken name is taken in every state, and does not reveal its owner', async () => {
    for (const state of states) {
      const package_name = nameOf(0, matrix[0] as AuditAction, state, 'other')
      const body = {
        package_name,
        name: 'Mine',
        description: 'Mine.',
        capabilities: [{ name: 'a', description: 'b' }],
      }
      const token = (await home.token('other', { namespaces: [namespace] })) as string
      const answer = await home.request('POST', '/api/agents/publish', { body, token })
      expect(answer.json.code).toBe('conflict')
      expect(answer.text).not.toContain(secret)
    }
  })
})

describe('an owner whose token lacks agents:publish', () => {
  test.each(['go_live', 'unpublish'])('may not %s, at every transport', async (action) => {
    const scopes = everyScope.filter((scope) => scope !== 'agents:publish')
    const token = await home.token('owner', { scopes })
    const state = action === 'go_live' ? 'STAGE' : 'ACTIVE'
    const agent = nameOf(0, { action, expected: reads }, state, 'owner')
    for (const transport of transports) {
      const outcome = await transport.call({ to: 'svc.registry', action, params: { agent } }, token)
      expect([transport.name, codeOf(outcome)]).toEqual([transport.name, 'forbidden'])
      const entry = await home.gateway.store.read.entry({ package_name: agent })
      expect(entry?.state).toBe(state)
    }
  })
})

describe('who may do what to an agent', () => {
  test.each(matrix.map((matrixRow, index) => [matrixRow.action, matrixRow, index] as const))(
    '%s',
    async (_, matrixRow, index) => {
      for (const [number, transport] of transportsOf(index).entries()) {
        expect({ transport: transport.name, ...(await tableOf(transport, number, matrixRow)) }).toEqual({
          transport: transport.name,
          ...matrixRow.expected,
        })
      }
    },
  )
})
