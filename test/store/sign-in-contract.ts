import { describe, expect, test } from 'vitest'
import type { SignInRow } from '../../schemas/sign-in.ts'
import type { StoreHome } from './contract.ts'

const now = 1000
const row = (id: string, more: Partial<SignInRow> = {}): SignInRow => ({
  id,
  kind: 'RefreshToken',
  alias: null,
  grant_id: null,
  owner: null,
  document: '{}',
  consumed_at: null,
  expires_at: now + 100,
  ...more,
})

/** What every store does with the rows of the authorization server. */
export function signInContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a row of the authorization server`, () => {
    test('is found by its id and its alias, in this and in another process, until it expires', async () => {
      await using home = await open()
      const { signIn } = home.store
      await signIn.put(row('a', { alias: 'typed', grant_id: 'g', owner: 'o' }))
      const elsewhere = (await home.another()).signIn
      for (const store of [signIn, elsewhere]) {
        expect(await store.find('a', now)).toEqual(row('a', { alias: 'typed', grant_id: 'g', owner: 'o' }))
        expect(await store.findByAlias('RefreshToken', 'typed', now)).toMatchObject({ id: 'a' })
        expect(await store.findByAlias('DeviceCode', 'typed', now)).toBeUndefined()
        expect(await store.find('a', now + 100)).toBeUndefined()
        expect(await store.count('RefreshToken', now)).toBe(1)
        expect(await store.count('RefreshToken', now + 100)).toBe(0)
      }
      await signIn.extend('a', now + 200)
      expect(await signIn.find('a', now + 100)).toBeDefined()
    })

    test('is consumed once, by one of several that try, and stays consumed when it is written again', async () => {
      await using home = await open()
      const { signIn } = home.store
      await signIn.put(row('a'))
      const tries = await Promise.all(Array.from({ length: 5 }, () => signIn.consume('a', now)))
      expect(tries.filter(Boolean)).toHaveLength(1)
      await signIn.put(row('a', { document: '{"again":true}' }))
      expect(await signIn.find('a', now)).toMatchObject({ document: '{"again":true}', consumed_at: now })
      expect(await signIn.consume('nothing', now)).toBe(false)
    })

    test('ends with its grant, by itself, or with the data of its person', async () => {
      await using home = await open()
      const { signIn, personalData } = home.store
      const owner = '["urn:test","ada"]'
      for (const [id, grant_id] of [
        ['a', 'g'],
        ['b', 'g'],
        ['c', 'h'],
        ['d', null],
      ] as const)
        await signIn.put(row(id, { grant_id, owner: id === 'c' ? owner : null }))
      await signIn.removeGrant('g')
      await signIn.remove('d')
      const left = await Promise.all(['a', 'b', 'c', 'd'].map((id) => signIn.find(id, now)))
      expect(left.map((found) => found?.id)).toEqual([undefined, undefined, 'c', undefined])
      await personalData.forget({ issuer: 'urn:test', subject: 'ada' }, { issuer: 'x', subject: 'p' })
      expect(await signIn.find('c', now)).toBeUndefined()
    })
  })
}
