import { expect, test } from 'vitest'
import { resultOf } from '../../src/transports/shared/content.ts'

test('metadata of a part is metadata of its block, unless there is none in it, as from the SDK in Java', () => {
  const parts = [
    { text: 'one', metadata: {} },
    { text: 'two', metadata: { source: 'b' } },
  ]
  const event = { message: { messageId: 'm', role: 'ROLE_AGENT', parts } }
  expect(resultOf({ protocol: 'a2a', event }).content).toEqual([
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two', _meta: { a2a: { source: 'b' } } },
  ])
})
