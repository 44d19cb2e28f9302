import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { firstMessage, names, openFaultyWorld } from './faulty-world.ts'

/** A share of the whole proof, where only a few rounds are wanted. */
const share = process.env.SOAK_ROUNDS === undefined ? 1 : Number(process.env.SOAK_ROUNDS) / 100
const count = Math.max(400, 10_000 * share)
/** Until the connections that the gateway and the test keep alive have gone. */
const keptAlive = 7_000
const megabyte = 1024 * 1024

interface Held {
  readonly heap: number
  readonly rss: number
  readonly sockets: number
  readonly handles: number
}

test('agents that fail in every way leave no resources behind', async () => {
  // Circuits heal in a moment, so that nearly every call reaches its agent, and a busy machine makes none too slow.
  await using outside = await openFaultyWorld({ clockRate: 2000, timeout_ms: 2000 })
  const { gateway, send } = outside

  async function held(): Promise<Held> {
    gateway.send('count')
    return await firstMessage<Held>(gateway)
  }
  /** Calls failing agents with this concurrency, and counts the outcomes. */
  async function misery(calls: number, concurrency: number): Promise<Map<string, number>> {
    const codes = new Map<string, number>()
    let left = calls
    const worker = async () => {
      while (left-- > 0) {
        const code = await send(names[left % names.length] ?? '')
        codes.set(code, (codes.get(code) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    return codes
  }

  await misery(count, 24)
  await pause(keptAlive)
  const before = await held()
  const codes = await misery(count, 24)
  await pause(keptAlive)
  const after = await held()
  console.log(`${count} calls:`, Object.fromEntries(codes), before, after)
  const expected = ['blocked_address', 'upstream_failed', 'upstream_invalid', 'upstream_timeout']
  // A circuit is seen open only where calls follow each other within milliseconds.
  codes.delete('circuit_open')
  expect([...codes.keys()].toSorted()).toEqual(expected)
  expect(after.heap - before.heap).toBeLessThan(megabyte + count * 400)
  expect(after.rss - before.rss).toBeLessThan(64 * megabyte)
  expect(after.sockets).toBeLessThanOrEqual(before.sockets + 4)
  expect(after.handles).toBeLessThanOrEqual(before.handles + 8)
})
