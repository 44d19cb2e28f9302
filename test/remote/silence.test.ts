import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createAgentPolicy } from '../../src/net/upstream/fair-policy.ts'
import { createGuarded } from '../../src/remote/guarded.ts'
import type { RemoteAgent, RemoteAnswer, RemoteCall } from '../../src/remote/remote-agent.ts'

const times = { first_ms: 60_000, idle_ms: 60_000 }
const limits = { max_in_flight: 64, max_in_flight_per_caller: 12, max_tasks: 30, gap_ms: 0, burst: 1 }
const wait = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => reject(signal.reason))
  })

type Work = (call: RemoteCall) => Promise<RemoteAnswer>

/** An agent that works like this, behind its policy and its limits. */
function guarded(work: Work): RemoteAgent {
  const agent: RemoteAgent = {
    call: (_, __, call) => work(call),
    probe: async () => undefined,
    async [Symbol.asyncDispose]() {},
  }
  const policy = createAgentPolicy('com.example.slow', limits, Date.now, wait)
  return createGuarded(agent, { policy, who: 'com.example.slow', times })
}

const callOf = (caller = 'ada'): RemoteCall => ({
  signal: new AbortController().signal,
  headers: {},
  caller,
  onActivity() {},
  emit: async () => {},
})

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const forever = new Promise<never>(() => {})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('an agent', () => {
  test('may work for ten minutes while it tells its progress every five seconds', async () => {
    const agent = guarded(async ({ emit }) => {
      for (let progress = 1; progress <= 120; progress++) {
        await pause(5_000)
        await emit({ progress })
      }
      return { output: 'done' }
    })
    const answer = agent.call('work', {}, callOf())
    await vi.advanceTimersByTimeAsync(600_000)
    expect(await answer).toEqual({ output: 'done' })
  })

  test('that never answers is upstream_timeout after the time to a first word', async () => {
    const answer = guarded(() => forever)
      .call('hang', {}, callOf())
      .catch((thrown) => thrown)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await answer).toMatchObject({
      code: 'upstream_timeout',
      message: 'com.example.slow did not answer within 60 s.',
      details: { hint: expect.stringContaining('before you repeat a call that changes something') },
    })
  })

  test('that falls silent is upstream_timeout, and its circuit does not count that', async () => {
    let isSilent = true
    const agent = guarded(async ({ emit }) => {
      if (!isSilent) return { output: 'well' }
      await emit({ progress: 1 })
      return await forever
    })
    for (let time = 0; time < 6; time++) {
      const answer = agent.call('stall', {}, callOf())
      await vi.advanceTimersByTimeAsync(59_999)
      await vi.advanceTimersByTimeAsync(1)
      expect(await answer).toMatchObject({
        refused: { code: 'upstream_timeout', message: 'com.example.slow was silent for 60 s.' },
      })
    }
    isSilent = false
    expect(await agent.call('stall', {}, callOf())).toEqual({ output: 'well' })
  })

  test('is not silent while its caller takes what it said', async () => {
    const agent = guarded(async ({ emit }) => {
      await emit({ part: 1 })
      return { output: 'done' }
    })
    const answer = agent.call('work', {}, { ...callOf(), emit: async () => void (await pause(120_000)) })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(await answer).toEqual({ output: 'done' })
  })

  test('answers one caller while fifty calls of another hang or fail', async () => {
    const agent = guarded(async ({ caller, emit }) => {
      if (caller === 'ada') return { output: 'hello' }
      await emit({ progress: 1 })
      return await forever
    })
    const slow = Array.from({ length: 50 }, () => agent.call('hang', {}, callOf('eve')).catch(() => {}))
    await vi.advanceTimersByTimeAsync(1_000)
    for (let time = 0; time < 50; time++) {
      expect(await agent.call('greet', {}, callOf('ada'))).toEqual({ output: 'hello' })
    }
    await vi.advanceTimersByTimeAsync(600_000)
    await Promise.all(slow)
  })

  test('that works on tasks of its own takes calls beside them, up to a number of tasks', async () => {
    const begun: string[] = []
    const agent = guarded(async ({ caller, onTask }) => {
      begun.push(caller)
      onTask?.()
      await pause(caller === 'ada' ? 10_000 : 50_000)
      return { output: 'done' }
    })
    const tasks = Array.from({ length: 30 }, () => agent.call('research', {}, callOf('eve')))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(begun).toHaveLength(30)
    const others = Array.from({ length: 20 }, () => agent.call('research', {}, callOf('ada')))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(begun).toHaveLength(42)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(begun).toHaveLength(50)
    await vi.advanceTimersByTimeAsync(50_000)
    expect(await Promise.all([...tasks, ...others])).toHaveLength(50)
  })

  test('that is well again is called by all as soon as it has begun a task, which may take long', async () => {
    let isBroken = true
    const agent = guarded(async ({ onTask }) => {
      if (isBroken) throw new Failure('upstream_failed', 'Down.')
      onTask?.()
      await pause(40_000)
      return { output: 'done' }
    })
    for (let time = 0; time < 5; time++) await agent.call('work', {}, callOf()).catch(() => {})
    isBroken = false
    await vi.advanceTimersByTimeAsync(30_000)
    const first = agent.call('work', {}, callOf())
    await vi.advanceTimersByTimeAsync(1)
    const second = agent.call('work', {}, callOf())
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await Promise.all([first, second])).toEqual([{ output: 'done' }, { output: 'done' }])
  })
})
