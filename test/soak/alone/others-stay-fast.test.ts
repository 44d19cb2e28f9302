import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openFaultyWorld, wellName } from '../faulty-world.ts'

const rounds = 12

const percentile = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN

/** A machine that others use makes a figure jump now and then. */
const attempts = { retry: 2 }

test.each([
  { circuits: 'with circuits that open', clockRate: 1, most: 1.5 },
  // As though there were none: each of twenty calls a second reaches an agent that fails.
  { circuits: 'with circuits that heal at once', clockRate: 2000, most: 2 },
])('agents that fail, $circuits, delay no other call', attempts, async ({ circuits, clockRate, most }) => {
  await using outside = await openFaultyWorld({ clockRate })
  outside.yieldToGateway()

  /** Milliseconds that each call of an agent that is well takes, one after another. */
  async function well(during: Promise<unknown>): Promise<number[]> {
    const times: number[] = []
    let over = false
    void during.finally(() => {
      over = true
    })
    while (!over) {
      const started = performance.now()
      expect(await outside.send(wellName)).toBe('ok')
      times.push(performance.now() - started)
      await pause(5)
    }
    return times
  }

  await well(outside.callFailing(150))
  const quiet: number[] = []
  const loud: number[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(...(await well(pause(2500))))
    loud.push(...(await well(outside.callFailing(50))))
  }
  const figures = [0.5, 0.9, 0.99].map((share) =>
    [quiet, loud].map((times) => percentile(times, share).toFixed(1)).join(' and '),
  )
  console.log(
    `${circuits}: ${quiet.length} and ${loud.length} calls, p50 ${figures[0]}, p90 ${figures[1]}, p99 ${figures[2]} ms`,
  )
  expect(percentile(loud, 0.99)).toBeLessThan(most * percentile(quiet, 0.99))
})
