import { describe, expect, test } from 'vitest'
import type { StoredCredential } from '../../schemas/credential.ts'
import type { StoreHome } from './contract.ts'

const credential = (entry_id: string, more: Partial<StoredCredential> = {}): StoredCredential => ({
  owner: '["i","ada"]',
  entry_id,
  variable: '',
  origin: 'https://example.com',
  header: 'authorization',
  sealed: 'c2VhbGVk',
  created_at: '2026-01-01T00:00:00.000Z',
  sign_in: null,
  ...more,
})

/** What every store does with credentials. */
export function credentialContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a credential`, () => {
    test('is found by its owner and its agent, in this and in another process', async () => {
      await using home = await open()
      const { credentials } = home.store
      expect(await credentials.put(credential('a'), 10)).toBe(true)
      const elsewhere = await home.another()
      expect(await elsewhere.credentials.find('["i","ada"]', 'a')).toEqual([credential('a')])
      expect(await credentials.find('["i","eve"]', 'a')).toEqual([])
      expect(await credentials.find('["i","ada"]', 'b')).toEqual([])
    })

    test('replaces the one before, up to the limit of its owner', async () => {
      await using home = await open()
      const { credentials } = home.store
      for (const id of ['a', 'b']) await credentials.put(credential(id), 2)
      expect(await credentials.put(credential('c'), 2)).toBe(false)
      expect(await credentials.put(credential('c', { owner: '["i","eve"]' }), 2)).toBe(true)
      expect(await credentials.put(credential('b', { header: 'x-key' }), 2)).toBe(true)
      expect(
        (await credentials.list('["i","ada"]')).map(({ entry_id, header }) => [entry_id, header]),
      ).toEqual([
        ['a', 'authorization'],
        ['b', 'x-key'],
      ])
    })

    test('stands beside those of the variables of its agent', async () => {
      await using home = await open()
      const { credentials } = home.store
      const variables = ['', 'KEY', 'TOKEN']
      for (const variable of variables)
        expect(await credentials.put(credential('a', { variable }), 3)).toBe(true)
      expect(await credentials.put(credential('a', { variable: 'OTHER' }), 3)).toBe(false)
      expect(await credentials.put(credential('a', { variable: 'KEY', sealed: 'bmV3' }), 3)).toBe(true)
      expect(await credentials.remove('["i","ada"]', 'a', 'TOKEN')).toBe(true)
      expect(
        (await credentials.find('["i","ada"]', 'a')).map(({ variable, sealed }) => [variable, sealed]),
      ).toEqual([
        ['', 'c2VhbGVk'],
        ['KEY', 'bmV3'],
      ])
      expect(await credentials.remove('["i","ada"]', 'a')).toBe(true)
      expect(await credentials.find('["i","ada"]', 'a')).toEqual([])
    })

    test('is replaced only where nobody has replaced it before', async () => {
      await using home = await open()
      const { credentials } = home.store
      const url = 'https://a.example/'
      const sign_in = { issuer: 'https://as.example', scopes: ['read'], expires_at: null, url }
      const first = credential('a', { sign_in })
      await credentials.put(first, 2)
      const next = credential('a', { sealed: 'bmV3', sign_in: { ...sign_in, scopes: ['read', 'write'] } })
      expect(await credentials.replace(next, first.sealed)).toBe(true)
      expect(await credentials.replace({ ...next, sealed: 'bGF0ZQ' }, first.sealed)).toBe(false)
      expect(await credentials.find('["i","ada"]', 'a')).toEqual([next])
      expect(await credentials.removeSame(first)).toBe(false)
      expect(await credentials.removeSame(next)).toBe(true)
    })

    test('is not found after it is removed', async () => {
      await using home = await open()
      const { credentials } = home.store
      await credentials.put(credential('a'), 2)
      expect(await credentials.remove('["i","ada"]', 'a')).toBe(true)
      expect(await credentials.remove('["i","ada"]', 'a')).toBe(false)
      expect(await credentials.list('["i","ada"]')).toEqual([])
    })
  })
}
