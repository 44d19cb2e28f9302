import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keyMismatch } from '../../src/app/keys-differ.ts'
import { openKeyRing } from '../../src/auth/key-ring.ts'
import { run, temporaryFolder } from '../support/command.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { publication } from '../support/registry.ts'

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

test('a gateway whose keys are lost for good says so, until its new ones are made those of the registry', async () => {
  await using folder = await temporaryFolder()
  const environment = { DRAGOMAN_DATA: folder.path }
  const path = join(folder.path, 'keys')
  const { token: before } = await whileServing(environment, async (home) => {
    const token = await home.token('ada')
    const body = publication('com.example.mine')
    expect((await home.request('POST', '/api/agents/publish', { body, token })).status).toBe(201)
    return { token }
  })
  const replace = () => run(['keys', 'replace'], environment)
  expect(await replace()).toMatchObject({ code: 1, stderr: expect.stringContaining('none are lost') })
  await rm(path, { recursive: true })
  const goLive = async (home: TestGateway, token: string) =>
    (await home.request('POST', '/api/agents/com.example.mine/go-live', { token })).status
  await whileServing(environment, async (home) => {
    expect((await home.request('GET', '/readyz')).json.reasons).toEqual(['keys_differ', 'secret_key_differs'])
    expect(await goLive(home, before)).toBe(401)
  })
  expect(await replace()).toMatchObject({ code: 0, stdout: expect.stringMatching(/ signing/) })
  await whileServing(environment, async (home) => {
    expect((await home.request('GET', '/readyz')).json.reasons).toEqual([])
    expect(await goLive(home, await home.token('ada'))).toBe(200)
  })
})

/** The result of what is done while a gateway runs. */
async function whileServing<Result>(
  environment: Record<string, string>,
  use: (home: TestGateway) => Promise<Result>,
): Promise<Result> {
  await using home = await startGateway(environment)
  await home.gateway.ready
  return await use(home)
}

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
