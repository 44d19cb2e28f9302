import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { RegistryChange } from '../../schemas/change.ts'
import { type LivenessStatus, unseen } from '../../schemas/liveness.ts'
import type { AgentPage } from '../../schemas/search.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import { eventsOf } from '../support/events.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const isShort = process.env.SOAK_ROUNDS !== undefined
const megabyte = 1024 * 1024

type Agents = Map<string, Record<string, unknown>>

/** The steps of a follower in docs/changes.md. */
function apply(agents: Agents, change: RegistryChange): void {
  if (change.kind === 'listed') agents.set(change.id, { ...change.agent })
  else if (change.kind === 'liveness') {
    const { liveness, callable, callable_reason } = change
    Object.assign(agents.get(change.id) ?? {}, { liveness, callable, callable_reason })
  } else agents.delete(change.id)
}

/**
 * Changes some of 40 agents at random until it is stopped; the last changes are those of their liveness. Resolves to
 * the last revision.
 */
async function stir({ gateway }: TestGateway, random: () => number, stop: AbortSignal): Promise<number> {
  const { store } = gateway
  async function show({ id }: StoredEntry, status: LivenessStatus): Promise<void> {
    await store.liveness.watch([{ entry_id: id, place: 'here', active: true }])
    const probe = await store.liveness.get(id)
    if (probe) revision = await store.liveness.save([{ ...probe, shown: { ...unseen, status } }])
  }
  const entries = Array.from({ length: 40 }, () => sampleEntry({ state: 'STAGE' }))
  const any = () => Math.floor(random() * entries.length)
  let revision = 0
  for (let step = 0; !stop.aborted; step++) {
    const at = any()
    const entry = entries[at] as StoredEntry
    if (random() < 0.2) {
      await show(entry, (['alive', 'dead', 'degraded'] as const)[step % 3] ?? 'alive')
      continue
    }
    const next: StoredEntry = {
      ...entry,
      name: `Number ${step}`,
      state: random() < 0.5 ? 'ACTIVE' : 'STAGE',
      suspended: random() < 0.1 ? { reason: 'spam', at: entry.created_at } : null,
      deleted: random() < 0.1,
    }
    entries[at] = next
    const batch = [next, ...(random() < 0.2 ? entries.slice(0, any()) : [])]
    const written = await store.write(async (writer) => {
      for (const changed of batch) await writer.put(changed)
    })
    revision = written.revision
    await pause(1)
  }
  for (const [at, entry] of entries.entries()) await show(entry, at % 2 === 0 ? 'alive' : 'dead')
  return revision
}

/** All public entries in the form of the change feed: without fields that only searches add, and without liveness figures. */
async function registryOf(home: TestGateway): Promise<unknown[]> {
  const agents: Record<string, unknown>[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/public/agents?sort=name&limit=100${cursor && `&cursor=${cursor}`}`
    const page = (await home.request('GET', path)).json as AgentPage
    agents.push(...page.agents)
    cursor = page.next_cursor
  }
  return comparable(agents)
}

const comparable = (agents: readonly Record<string, unknown>[]) =>
  agents
    .map(({ score: _, why: __, liveness, ...rest }) => {
      return { ...rest, status: (liveness as { status: string }).status }
    })
    .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))

test(`a follower that is cut off ${isShort ? 100 : 2000} times ends with exactly the registry`, async () => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  const random = seeded(seed)
  await using home = await startGateway()
  const stop = new AbortController()
  const stirring = stir(home, seeded(seed + 1), stop.signal)
  const agents: Agents = new Map()
  let last = 0
  let count = 0

  function take(change: RegistryChange): void {
    expect(change.revision).toBeGreaterThan(last)
    last = change.revision
    count += 1
    apply(agents, change)
  }

  /** Follows until it is cut off: between two events, or wherever the connection was by then. */
  async function follow(enough: (received: number) => boolean, cut?: number): Promise<void> {
    const leave = new AbortController()
    const timer = cut === undefined ? undefined : setTimeout(() => leave.abort(), cut)
    const headers = { Accept: 'text/event-stream', ...(last > 0 && { 'Last-Event-ID': String(last) }) }
    try {
      const answer = await fetch(`${home.url}/public/changes`, { headers, signal: leave.signal })
      expect(answer.status).toBe(200)
      let received = 0
      for await (const { event, data } of eventsOf(answer)) {
        if (event !== 'part') continue
        take(data)
        received += 1
        if (enough(received)) break
      }
    } catch (fault) {
      if (!leave.signal.aborted) throw fault
    } finally {
      clearTimeout(timer)
      leave.abort()
    }
  }

  for (let cuts = 0; cuts < (isShort ? 100 : 2000); cuts++) {
    const many = 1 + Math.floor(random() * 30)
    if (random() < 0.5) await follow((received) => received >= many)
    else await follow(() => false, random() * 40)
    // Several changes of one agent may happen between two reads.
    await pause(random() * 40)
  }
  stop.abort()
  const revision = await stirring
  await home.gateway.tailer.caughtUp(revision)
  await home.gateway.liveness.livenessCache.sweep()
  for (let more = true; more; ) {
    const page = (await home.request('GET', `/public/changes?since=${last}`)).json
    for (const change of page.changes) take(change)
    last = page.next_since
    more = page.more
  }
  expect(comparable([...agents.values()])).toEqual(await registryOf(home))
  console.log(`${count} changes of ${revision} revisions heard, ${agents.size} agents in the end`)
  expect(count).toBeGreaterThan(100)
})

test('a thousand followers, some of whom never read, cost flat memory', async () => {
  const child = fork(new URL('./follow-subject.ts', import.meta.url), [], { execArgv: ['--expose-gc'] })
  try {
    const [{ url }] = (await once(child, 'message')) as [{ url: string }]
    const held = async (changes: number) => {
      child.send(changes)
      return (await once(child, 'message'))[0] as {
        revision: number
        heap: number
        rss: number
        sockets: number
      }
    }
    const warm = await held(50)
    const followers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => openFollower(url, warm.revision, index % 10 !== 0)),
    )
    const reached = async (revision: number) => {
      while (followers.some((entry) => entry.reads && entry.last() < revision)) await pause(20)
    }
    const many = isShort ? 10 : 1000
    const first = await held(many)
    await reached(first.revision)
    const before = await held(0)
    const second = await held(many)
    await reached(second.revision)
    const after = await held(0)
    console.log(
      `followers: ${Math.round((before.heap - warm.heap) / 1000)} bytes of heap each,`,
      `${many} more changes: ${((after.heap - before.heap) / megabyte).toFixed(2)} MiB`,
      warm,
      before,
      after,
    )
    expect(before.heap - warm.heap).toBeLessThan(64 * megabyte)
    expect(after.heap - before.heap).toBeLessThan(6 * megabyte)
    for (const { socket } of followers) socket.destroy()
    let gone = await held(0)
    while (gone.sockets > warm.sockets) gone = await held(0)
    expect(gone.heap - warm.heap).toBeLessThan(8 * megabyte)
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
})

interface OpenFollower {
  readonly socket: Socket
  readonly reads: boolean
  /** The last revision that was heard. */
  last(): number
}

async function openFollower(url: string, since: number, reads: boolean): Promise<OpenFollower> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    `GET /public/changes?since=${since} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`,
  )
  await once(socket, 'readable')
  let last = since
  let tail = ''
  if (reads) {
    socket.on('data', (chunk) => {
      tail = (tail + chunk).slice(-4000)
      const ids = [...tail.matchAll(/^id: (\d+)$/gm)]
      last = Math.max(last, Number(ids.at(-1)?.[1] ?? 0))
    })
  }
  return { socket, reads, last: () => last }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
