import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyMismatch } from '../../src/app/keys-differ.ts'
import { openKeyRing } from '../../src/auth/key-ring.ts'
import { temporaryFolder } from '../support/command.ts'
import { startGateway } from '../support/gateway.ts'

test('a gateway without the key that another one has rotated in says so, until it has a copy', async () => {
  await using home = await startGateway()
  await using folder = await temporaryFolder()
  const [here, elsewhere] = [join(home.data, 'keys'), join(folder.path, 'keys')]
  const reasons = async () => (await home.request('GET', '/readyz')).json.reasons
  const { checkKeys } = home.gateway.identity
  await cp(here, elsewhere, { recursive: true })
  // The folder of another gateway over the same database.
  const theirs = await openKeyRing(join(elsewhere, 'signing.json'), Date.now)
  const look = () => keyMismatch(home.gateway.store, theirs, Date.now)
  expect(await look()).toBeUndefined()
  const { kid } = await theirs.rotate()
  expect(await look()).toBeUndefined()
  await checkKeys()
  expect(await reasons()).toEqual(['keys_differ'])
  expect(await keyMismatch(home.gateway.store, home.gateway.identity.ring, Date.now)).toContain(kid)
  await cp(elsewhere, here, { recursive: true })
  await expect
    .poll(
      async () => {
        await checkKeys()
        return await reasons()
      },
      { timeout: 5000 },
    )
    .toEqual([])
})

test('a newest key that is revoked is missed by nobody', async () => {
  await using home = await startGateway()
  const { ring, checkKeys } = home.gateway.identity
  const { kid } = await ring.rotate()
  await checkKeys()
  const token = await home.token('root', { scopes: ['admin'] })
  const body = { to: 'svc.registry', action: 'revoke', params: { kid } }
  expect((await home.request('POST', '/a2a/message', { token, body })).json).toEqual({ revoked: 'kid' })
  await checkKeys()
  expect((await home.request('GET', '/readyz')).json.reasons).toEqual([])
})
