import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { createResolve } from '../../src/registry/queries/resolve.ts'
import { principal } from '../support/router.ts'

test('an owner whose agent cannot be read for a moment is not told to take it live', async () => {
  const busy = new Failure('unavailable', 'The store is busy; nothing was written.')
  const resolve = createResolve(
    [],
    async (_, caller) => {
      if (caller === null) throw busy
      // The next read succeeds.
      return { package_name: 'com.example.agent', suspended: null } as never
    },
    () => {
      throw new Error('not reached')
    },
  )
  await expect(resolve('com.example.agent', { principal: principal('ada') })).rejects.toBe(busy)
})
