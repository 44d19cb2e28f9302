import { describe, expect, test } from 'vitest'
import type { StoredApproval } from '../../schemas/approval.ts'
import type { StoreHome } from './contract.ts'

const approval = (entry_id: string, more: Partial<StoredApproval> = {}): StoredApproval => ({
  id: `approval-of-${entry_id}`,
  scope: 'operator',
  entry_id,
  document: '{}',
  created_at: '2026-01-01T00:00:00.000Z',
  ...more,
})

/** What every store does with approvals. */
export function approvalContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: an approval`, () => {
    test('is found by its scope and its entry, in this and in another process', async () => {
      await using home = await open()
      const { approvals } = home.store
      await approvals.put(approval('a'))
      expect(await (await home.another()).approvals.find('operator', 'a')).toEqual(approval('a'))
      expect(await approvals.find('["i","ada"]', 'a')).toBeUndefined()
      expect(await approvals.find('operator', 'b')).toBeUndefined()
    })

    test('replaces the one before, of its own scope alone', async () => {
      await using home = await open()
      const { approvals } = home.store
      const own = approval('a', { id: 'own', scope: '["i","ada"]' })
      const later = approval('a', { id: 'later', document: '{"later":true}' })
      for (const row of [approval('a'), own, later, approval('b')]) await approvals.put(row)
      expect(await approvals.list('operator')).toEqual([later, approval('b')])
      expect(await approvals.list('["i","ada"]')).toEqual([own])
    })

    test('is listed page by page, in the order of the ids of entries', async () => {
      await using home = await open()
      const { approvals } = home.store
      for (const entry of ['b', 'c', 'a']) await approvals.put(approval(entry))
      expect(await approvals.list('operator', { limit: 2 })).toEqual([approval('a'), approval('b')])
      expect(await approvals.list('operator', { limit: 2, after: 'b' })).toEqual([approval('c')])
    })

    test('is not found after it is removed', async () => {
      await using home = await open()
      const { approvals } = home.store
      await approvals.put(approval('a'))
      expect(await approvals.remove('operator', 'a')).toBe(true)
      expect(await approvals.remove('operator', 'a')).toBe(false)
      expect(await approvals.list('operator')).toEqual([])
    })
  })
}
