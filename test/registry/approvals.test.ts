import { expect, test } from 'vitest'
import type { StoredApproval } from '../../schemas/approval.ts'
import { Approvals, operatorScope } from '../../src/registry/packages/approvals.ts'
import type { Store } from '../../src/store/store.ts'

const actor = { issuer: 'urn:dragoman:local', subject: 'root' }
const row: StoredApproval = {
  id: 'approval',
  scope: operatorScope,
  entry_id: 'entry',
  created_at: '2026-01-01T00:00:00.000Z',
  document: JSON.stringify({
    pinned: {},
    resolved: {},
    lock: '',
    scripts: false,
    hosts: [],
    chosen: { variables: [], arguments: [] },
    values: {},
    more_arguments: [],
    approved_by: actor,
  }),
}

test('an approval that is revoked while it is read is not used again', async () => {
  const rows = [row]
  const reading = Promise.withResolvers<void>()
  const store = {
    async find() {
      const found = rows[0]
      await reading.promise
      return found
    },
    remove: async () => rows.pop() !== undefined,
  } as unknown as Store['approvals']
  const approvals = new Approvals({ approvals: store }, () => 0)
  const early = approvals.find(operatorScope, 'entry')
  expect(await approvals.remove(operatorScope, 'entry')).toBe(true)
  reading.resolve()
  expect((await early)?.id).toBe('approval')
  expect(await approvals.find(operatorScope, 'entry')).toBeUndefined()
})

test('an approval that another process revoked ends within two seconds, although the clock is set back', async () => {
  const rows = [row]
  const store = { find: async () => rows[0] } as unknown as Store['approvals']
  let now = 1_000_000
  const approvals = new Approvals({ approvals: store }, () => now)
  expect((await approvals.find(operatorScope, 'entry'))?.id).toBe('approval')
  rows.pop()
  now -= 500_000
  expect((await approvals.find(operatorScope, 'entry'))?.id).toBe('approval')
  now += 2_000
  expect(await approvals.find(operatorScope, 'entry')).toBeUndefined()
})
