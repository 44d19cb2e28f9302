import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startJobs } from '../../src/app/jobs.ts'
import { startLeasedJob } from '../../src/registry/leased-job.ts'
import type { Leases } from '../../src/store/record-stores.ts'
import { startGateway } from '../support/gateway.ts'
import { openRegistry } from '../support/registry.ts'

const soon = { timeout: 10_000, interval: 5 }

describe('a job that all processes share', () => {
  let registry: Awaited<ReturnType<typeof openRegistry>>
  beforeAll(async () => {
    registry = await openRegistry()
  })
  afterAll(() => registry[Symbol.asyncDispose]())

  /** A run that lasts until its signal aborts. */
  function endless() {
    const runs: AbortSignal[] = []
    const job = {
      isDue: async () => true,
      run(signal: AbortSignal) {
        runs.push(signal)
        return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      },
    }
    return { runs, job }
  }

  test('stays with the process that runs it for long, and moves when that is frozen, whose run then ends', async () => {
    const { leases } = registry.store
    const lease_ms = 60
    let now = 0
    const clock = () => now
    let isFrozen = false
    const sleeping: Leases = {
      ...leases,
      async take(name, holder) {
        // The statement of a frozen process is sent when it wakes up.
        if (isFrozen) return true
        now += lease_ms / 3
        return await leases.take(name, holder, now, now + lease_ms)
      },
    }
    const common = { lease: 'long', clock, onError: () => {}, beat_ms: 5, lease_ms }
    const [first, second] = [endless(), endless()]
    await using _first = startLeasedJob({ ...common, job: first.job, leases: sleeping, holder: 'one' })
    await expect.poll(() => first.runs.length, soon).toBe(1)
    const answers: boolean[] = []
    const watched: Leases = {
      ...leases,
      async take(...lease) {
        const isTaken = await leases.take(...lease)
        answers.push(isTaken)
        return isTaken
      },
    }
    await using _second = startLeasedJob({ ...common, job: second.job, leases: watched, holder: 'two' })
    await expect.poll(() => now, soon).toBeGreaterThan(3 * lease_ms)
    expect(answers).toContain(false)
    expect(answers).not.toContain(true)
    isFrozen = true
    now += lease_ms
    await expect.poll(() => second.runs.length, soon).toBe(1)
    expect(first.runs[0]?.aborted).toBe(false)
    isFrozen = false
    await expect.poll(() => first.runs[0]?.aborted, soon).toBe(true)
    expect(second.runs[0]?.aborted).toBe(false)
  })

  test('is free once its process has stopped, also where that was renewing its lease', async () => {
    const { leases } = registry.store
    const now = 1000
    const common = { lease: 'stopped', clock: () => now, onError: () => {}, beat_ms: 5, lease_ms: 30 }
    const late = Promise.withResolvers<void>()
    let taken = 0
    const slow: Leases = {
      ...leases,
      async take(...lease) {
        taken += 1
        if (taken > 1) await late.promise
        return await leases.take(...lease)
      },
    }
    const { job } = endless()
    const stopping = startLeasedJob({ ...common, job, leases: slow, holder: 'one' })
    await expect.poll(() => taken, soon).toBeGreaterThan(1)
    const stopped = stopping[Symbol.asyncDispose]()
    for (let turn = 0; turn < 100; turn++) await nextTurn()
    late.resolve()
    await stopped
    expect(await leases.take('stopped', 'two', now, now + 1)).toBe(true)
  })
})

test('the jobs of gateways go by the clock of their store, on which all of them agree', async () => {
  const ahead = 3_600_000
  await using home = await startGateway({}, { clock: () => Date.now() + ahead })
  const taken: [number, number][] = []
  const { leases } = home.gateway.store
  const take: Leases['take'] = async (name, holder, now, until) => {
    taken.push([now, until])
    return await leases.take(name, holder, now, until)
  }
  const before = Date.now() + ahead
  await using _jobs = startJobs({
    ...home.gateway,
    store: { ...home.gateway.store, leases: { ...leases, take } },
  })
  await expect.poll(() => taken.length, soon).toBeGreaterThan(0)
  for (const [now, until] of taken) {
    expect(now).toBeGreaterThanOrEqual(before)
    expect(until).toBeLessThanOrEqual(now + 31_000)
  }
})
