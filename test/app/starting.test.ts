import { expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { retryStart } from '../../src/app/retry-start.ts'

/** A start that opens something, and fails so many times after that. */
function failing(times: number, fault: Error) {
  const state = { begun: 0, open: 0 }
  const start = () =>
    retryStart(async (stack) => {
      state.begun++
      state.open++
      stack.defer(() => void state.open--)
      if (state.begun <= times) throw fault
      return stack
    })
  return { state, start }
}

test('a start that fails closes what it opened, and says why', async () => {
  const fault = new Failure('invalid_request', 'Not so.')
  const { state, start } = failing(1, fault)
  await expect(start()).rejects.toBe(fault)
  expect(state).toEqual({ begun: 1, open: 0 })
})

test('a start whose store goes away in the middle of it is made again, over nothing of the one before', async () => {
  const { state, start } = failing(2, new Failure('unavailable', 'The store cannot be reached.'))
  await using _ = await start()
  expect(state).toEqual({ begun: 3, open: 1 })
})
