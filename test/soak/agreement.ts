import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import type { Served } from '../support/serve.ts'
import { type Answer, expectAnswered, type Nodes } from './nodes.ts'
import { type Book, expectedState, type KnownAgent, stateOf } from './writers.ts'

const timeoutMilliseconds = 120_000
const questions = [
  'does something',
  'an agent that does it',
  'wiki',
  'price of a stock',
  'a web page as text',
]

interface Ready {
  readonly revision: number
  readonly applied_revision: number
  readonly meaning: { readonly applied_revision: number }
}

/** Waits until every node has applied the last revision, by words and by meaning. */
export async function expectApplied(nodes: Nodes, last: number): Promise<void> {
  const end = performance.now() + timeoutMilliseconds
  for (;;) {
    const seen = await Promise.all(nodes.up().map((node) => expectAnswer<Ready>(node, '/readyz')))
    const numbers = seen.flatMap(({ revision, applied_revision, meaning }) => [
      revision,
      applied_revision,
      meaning.applied_revision,
    ])
    if (numbers.every((number) => number === last)) return
    if (performance.now() > end) expect(numbers).toEqual(numbers.map(() => last))
    await pause(50)
  }
}

/** Lists, searches and entries are the same at each node, and as the writers know them. */
export async function expectAgreement(nodes: Nodes, { agents, unsure }: Book): Promise<void> {
  const { token } = nodes
  const [first, ...others] = nodes.up() as [Served, ...Served[]]
  const listed = await list(first)
  const searches = await found(first, token)
  for (const other of others) {
    expect(await list(other)).toEqual(listed)
    expect(await found(other, token)).toEqual(searches)
  }
  const certain = [...agents.values()]
  expectListed(certain, unsure, new Set(listed.names))
  for (const batch of chunks(certain, 20)) await Promise.all(batch.map(expectEntry))
  for (const { before, after } of unsure) {
    const answers = await everywhere(after.package_name)
    const possible = [before ? expectedState(before) : { status: 404 }, expectedState(after)]
    expect(possible).toContainEqual(stateOf(answers[0] as Answer))
  }

  async function expectEntry(agent: KnownAgent): Promise<void> {
    const answers = await everywhere(agent.package_name)
    expect(stateOf(answers[0] as Answer)).toEqual(expectedState(agent))
  }

  /** The answers of each node to the owner, once they are equal. */
  async function everywhere(name: string): Promise<Answer[]> {
    const ask = (node: Served) => expectAnswered(node, 'GET', `/api/agents/${name}`, { token })
    const answers = await Promise.all(nodes.up().map(ask))
    for (const answer of answers) expect(answer).toEqual(answers[0])
    return answers
  }
}

function expectListed(
  certain: readonly KnownAgent[],
  unsure: Book['unsure'],
  names: ReadonlySet<string>,
): void {
  const active = certain.filter(({ state }) => state === 'ACTIVE').map((agent) => agent.package_name)
  expect(active.filter((name) => !names.has(name))).toEqual([])
  const doubtful = unsure.map(({ after }) => after.package_name)
  const possible = new Set([...active, ...doubtful])
  expect([...names].filter((name) => name.startsWith('com.soak.') && !possible.has(name))).toEqual([])
}

/** The log has neither gaps nor duplicates, and contains every acknowledged write under its number. */
export async function expectLog(store: Store, book: Book, before: number): Promise<number> {
  const log = await store.changes(0, 1_000_000)
  expect(log.map(({ revision }) => revision)).toEqual(log.map((_, at) => at + 1))
  const wrong = book.acknowledged.filter(
    ({ id, revision }) => revision !== undefined && log[revision - 1]?.entry_id !== id,
  )
  expect(wrong).toEqual([])
  const deleted = book.acknowledged.filter(({ revision }) => revision === undefined).map(({ id }) => id)
  const gone = new Set(log.flatMap(({ kind, entry_id }) => (kind === 'delete' ? entry_id : [])))
  expect(deleted.filter((id) => !gone.has(id))).toEqual([])
  const made = log.length - before
  expect(made).toBeGreaterThanOrEqual(book.acknowledged.length)
  expect(made).toBeLessThanOrEqual(book.acknowledged.length + book.unsure.length)
  return log.length
}

interface Page {
  readonly agents: readonly { readonly package_name: string }[]
  readonly total: number
  readonly next_cursor: string | null
}

/** All public entries, page by page, as answered. */
async function list(node: Served) {
  const agents: Page['agents'][number][] = []
  const totals = new Set<number>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page = await expectAnswer(node, `/public/agents?limit=100${cursor && `&cursor=${cursor}`}`)
    agents.push(...page.agents)
    totals.add(page.total)
    cursor = page.next_cursor
  }
  const names = agents.map((agent) => agent.package_name)
  expect([...totals]).toEqual([new Set(names).size])
  expect(new Set(names).size).toBe(names.length)
  return { agents, names }
}

/** What searches find, in their order and with their scores. */
async function found(node: Served, token: string): Promise<unknown[]> {
  const ask = async (path: string) => {
    const { total, agents } = await expectAnswer<Page>(node, path, token)
    return { total, agents }
  }
  const calls = questions.flatMap((question) => {
    const q = encodeURIComponent(question)
    return [`/public/agents?limit=20&q=${q}`, `/api/agents?mine=true&limit=20&q=${q}`]
  })
  return await Promise.all(calls.map(ask))
}

async function expectAnswer<T>(node: Served, path: string, token?: string): Promise<T> {
  const { status, json } = await expectAnswered(node, 'GET', path, token === undefined ? {} : { token })
  expect([path, status, json]).toEqual([path, 200, json])
  return json as T
}

function* chunks<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
