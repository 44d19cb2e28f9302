import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { Lease } from '../../src/registry/lease.ts'

test('work that ends with its store says why, though its lease cannot be released', async () => {
  const away = new Failure('unavailable', 'The store cannot be reached.')
  const lease = new Lease({
    leases: { take: async () => true, release: () => Promise.reject(away) },
    name: 'work',
    holder: 'one',
    clock: () => 0,
  })
  const faults: unknown[] = []
  const work = async () => {
    await using _held = await lease.hold((fault) => faults.push(fault))
    throw new Failure('unavailable', 'The source cannot be read.')
  }
  await expect(work()).rejects.toThrow('The source cannot be read.')
  expect(faults).toEqual([away])
})
