import { expect, test, vi } from 'vitest'
import { FailureClass, type Liveness, LivenessStatus, unseen } from '../../../schemas/liveness.ts'
import { PackedLiveness } from '../../../src/registry/liveness/packed-liveness.ts'

const probed: Liveness = {
  status: 'alive',
  since: '2026-11-01T00:00:00.000Z',
  checked_at: '2026-11-26T23:59:59.999Z',
  last_ok: '2026-11-26T23:59:59.998Z',
  uptime_30d: 0.9987,
  p50_ms: 0,
  p95_ms: 1234,
  failure: null,
  access: { kind: 'needs_key', asked_at: '2026-11-02T00:00:00.001Z' },
}

test('each status, failure and kind of access comes back as it was, beside all others', () => {
  const all = new PackedLiveness()
  const kinds = ['open', 'needs_key', 'needs_sign_in'] as const
  const accesses = [null, ...kinds.map((kind) => ({ kind, asked_at: '2026-11-02T00:00:00.001Z' }))]
  const expected = new Map<string, Liveness>([['unseen', unseen]])
  for (const status of LivenessStatus.options)
    for (const failure of [null, ...FailureClass.options])
      for (const access of accesses)
        expected.set(`${status} ${failure} ${access?.kind}`, { ...probed, status, failure, access })
  for (const [id, liveness] of expected) all.set(id, liveness)
  for (const [id, liveness] of expected) expect(all.get(id), id).toEqual(liveness)
})

test('of ten thousand agents, each has its own last state, and those that were removed have none', () => {
  const all = new PackedLiveness()
  const numbers = Array.from({ length: 10_000 }, (_, number) => number)
  for (const p50_ms of numbers) all.set(`agent ${p50_ms}`, { ...probed, p50_ms: 1 })
  for (const p50_ms of numbers) all.set(`agent ${p50_ms}`, { ...probed, p50_ms })
  for (const number of numbers) if (number % 3 === 0) all.delete(`agent ${number}`)
  all.delete('never there')
  all.set('agent 0', probed)
  const found = numbers.map((number) => all.get(`agent ${number}`)?.p50_ms)
  expect(found).toEqual(numbers.map((number) => (number % 3 === 0 && number !== 0 ? undefined : number)))
})

test('agents that come and go take the room of those that went, and leave all others as they were', () => {
  const grow = vi.spyOn(ArrayBuffer.prototype, 'transfer')
  const all = new PackedLiveness()
  const there = 1000
  for (let number = 0; number < 20 * there; number++) {
    all.set(`agent ${number}`, { ...probed, p50_ms: number })
    // In another order than they came.
    if (number >= there)
      all.delete(`agent ${Math.floor(number / there - 1) * there + ((number * 7) % there)}`)
  }
  const left = Array.from({ length: 20 * there }, (_, number) => all.get(`agent ${number}`)?.p50_ms)
  expect(left).toEqual(left.map((_, number) => (number < 19 * there ? undefined : number)))
  expect(grow).not.toHaveBeenCalled()
  grow.mockRestore()
})

test('what a newer version writes comes back whole, until it is replaced or removed', () => {
  const all = new PackedLiveness()
  const newer = { ...probed, status: 'asleep', naps: 3, since: '2026-11-01T00:00:00Z' } as unknown as Liveness
  all.set('agent', probed)
  all.set('agent', newer)
  expect(all.get('agent')).toEqual(newer)
  all.set('agent', probed)
  expect(all.get('agent')).toEqual(probed)
  all.set('agent', newer)
  all.delete('agent')
  expect(all.get('agent')).toBeUndefined()
})
