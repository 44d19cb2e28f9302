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
    let isFrozen = false
    const sleeping: Leases = {
      ...leases,
      // The statement of a frozen process is sent when it wakes up.
      take: async (...lease) => (isFrozen ? true : await leases.take(...lease)),
    }
    const common = { lease: 'long', clock: Date.now, onError: () => {}, beat_ms: 5, lease_ms: 60 }
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
    // It has asked for longer than a lease lasts.
    await expect.poll(() => answers.length, soon).toBeGreaterThan(30)
    expect(answers).not.toContain(true)
    isFrozen = true
    await expect.poll(() => second.runs.length, soon).toBe(1)
    expect(first.runs[0]?.aborted).toBe(false)
    isFrozen = false
    await expect.poll(() => first.runs[0]?.aborted, soon).toBe(true)
    expect(second.runs[0]?.aborted).toBe(false)
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
