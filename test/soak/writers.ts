import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { publication } from '../support/registry.ts'
import type { Served } from '../support/serve.ts'
import { type Answer, ask, expectRunning, type Nodes } from './nodes.ts'

/** An agent as its writer knows it to stand. */
export interface KnownAgent {
  readonly package_name: string
  /** The word of the last write; a search for it finds this agent first. */
  readonly word: string
  readonly state: 'STAGE' | 'ACTIVE' | 'DELETED'
  readonly id: string
}

interface Acknowledged {
  readonly id: string
  /** Undefined of what answers without a body. */
  readonly revision: number | undefined
}

/** The writers' record of acknowledged answers. */
export interface Book {
  readonly acknowledged: Acknowledged[]
  /** As they stand now, by name. */
  readonly agents: Map<string, KnownAgent>
  /** Agents whose last write may or may not have been committed, with their state in both cases; no writer changes them again. */
  readonly unsure: { readonly before: KnownAgent | undefined; readonly after: KnownAgent }[]
  /** Reads at another node right after a write, that were answered. */
  read_elsewhere: number
  /** Resolves once so many writes were acknowledged. */
  reached(count: number): Promise<void>
}

interface Write {
  readonly method: string
  readonly path: string
  readonly body?: object
  readonly before: KnownAgent | undefined
  readonly after: KnownAgent
}

/** Writers at random nodes, one write after another each, until `count` writes in all were acknowledged. */
export function startWriters(nodes: Nodes, writers: number, count: number) {
  const waiting: { count: number; resolve: () => void }[] = []
  const book: Book = {
    acknowledged: [],
    agents: new Map(),
    unsure: [],
    read_elsewhere: 0,
    reached(target) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ count: target, resolve })
      return promise
    },
  }

  async function write(writer: number): Promise<void> {
    const mine: KnownAgent[] = []
    for (let number = 0; book.acknowledged.length < count; number++) {
      const operation = choose(mine, `${writer}x${number}`)
      const at = pick(nodes.up())
      const answer = await ask(at, operation.method, operation.path, {
        token: nodes.token,
        body: operation.body,
      })
      if (!answer && nodes.up().includes(at)) await expectRunning(at)
      if (operation.before) mine.splice(mine.indexOf(operation.before), 1)
      if (!answer || answer.status === 503) {
        book.unsure.push(operation)
        book.agents.delete(operation.after.package_name)
        await pause(50)
        continue
      }
      expect([operation, answer.status, answer.json]).toEqual([
        operation,
        expectedStatus(operation),
        answer.json,
      ])
      const after: KnownAgent = { ...operation.after, id: answer.json.id ?? operation.after.id }
      book.agents.set(after.package_name, after)
      book.acknowledged.push({ id: after.id, revision: answer.json.revision })
      for (const { count, resolve } of waiting) if (book.acknowledged.length >= count) resolve()
      if (after.state !== 'DELETED') mine.push(after)
      const others = nodes.up().filter((node) => node !== at)
      await readOwn(others.length > 0 ? pick(others) : at, after, answer.json.revision)
    }
  }

  /** What was just written is what another node answers, to who wrote it. */
  async function readOwn(at: Served, written: KnownAgent, revision: number | undefined): Promise<void> {
    const { token } = nodes
    const seen = await ask(at, 'GET', `/api/agents/${written.package_name}`, { token })
    if (isAnswered(seen)) expect(stateOf(seen)).toEqual(expectedState(written, revision))
    if (Math.random() > 0.25) return
    const listed = await ask(at, 'GET', `/api/agents?mine=true&limit=5&q=${written.word}`, { token })
    if (!isAnswered(listed)) return
    const ids = listed.json.agents.map((agent: { id: string }) => agent.id)
    if (written.state === 'DELETED') expect(ids).not.toContain(written.id)
    else expect(ids[0]).toBe(written.id)
  }

  function isAnswered(answer: Answer | undefined): answer is Answer {
    const answered = answer !== undefined && answer.status !== 503
    if (answered) book.read_elsewhere += 1
    return answered
  }

  const done = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
  return { book, done }
}

/** Publishes an agent, or changes one of the writer's own agents at random. */
function choose(mine: readonly KnownAgent[], word: string): Write {
  const chance = Math.random()
  const before = mine.length > 0 ? pick(mine) : undefined
  if (!before || chance < 0.35) {
    const package_name = `com.soak.a${word}`
    const after: KnownAgent = { package_name, word: `w${word}`, state: 'STAGE', id: '' }
    const body = publication(package_name, { name: `Agent ${after.word}` })
    return { method: 'POST', path: '/api/agents/publish', body, before: undefined, after }
  }
  const path = `/api/agents/${before.id}`
  if (chance < 0.45) return { method: 'DELETE', path, before, after: { ...before, state: 'DELETED' } }
  if (chance < 0.65) {
    const after = { ...before, word: `w${word}` }
    return { method: 'PUT', path, body: { name: `Agent ${after.word}` }, before, after }
  }
  const [verb, state] =
    before.state === 'STAGE' ? (['go-live', 'ACTIVE'] as const) : (['unpublish', 'STAGE'] as const)
  return { method: 'POST', path: `${path}/${verb}`, before, after: { ...before, state } }
}

function expectedStatus({ method, before }: Write): number {
  if (!before) return 201
  return method === 'DELETE' ? 204 : 200
}

/** The state of an agent in an answer to its owner. */
export function stateOf({ status, json }: Answer): object {
  if (status !== 200) return { status }
  return { status, state: json.state, name: json.name, revision: json.revision }
}

export function expectedState({ state, word }: KnownAgent, revision: number = expect.any(Number)): object {
  return state === 'DELETED' ? { status: 404 } : { status: 200, state, name: `Agent ${word}`, revision }
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T
}
