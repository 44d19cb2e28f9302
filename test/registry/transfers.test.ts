import { afterAll, describe, expect, test } from 'vitest'
import { type Answer, startGateway, type TestGateway } from '../support/gateway.ts'
import { openRegistry, person, signal } from '../support/registry.ts'
import { instantLogin } from '../support/sign-in.ts'
import { publication } from '../transports/cases.ts'

const home = await startGateway({}, { logins: [instantLogin()] })
afterAll(() => home[Symbol.asyncDispose]())

async function api(subject: string, grant?: Parameters<TestGateway['token']>[1]) {
  const token = await home.token(subject, grant)
  const rest = (method: string, path: string, body?: unknown) => home.request(method, path, { token, body })
  const rpc = async (method: string, params: unknown) => {
    const answer = await rest('POST', '/rpc', { jsonrpc: '2.0', id: 1, method: `registry.${method}`, params })
    return answer.json.error?.data ?? answer.json.result
  }
  return Object.assign(rest, { rpc })
}

let made = 0
/** The path of a new agent of ada's; in STAGE unless it is to be live. */
async function agentOf(owner: Awaited<ReturnType<typeof api>>, { isLive = true } = {}) {
  made += 1
  const name = `com.given.agent-${made}`
  const { json } = await owner('POST', '/api/agents/publish', publication(name))
  if (isLive) await owner('POST', `/api/agents/${name}/go-live`)
  return { id: json.id as string, name, path: `/api/agents/${name}` }
}

const offersTo = async (call: Awaited<ReturnType<typeof api>>, query = '') =>
  (await call('GET', `/api/transfers${query}`)).json.offers

const actions = (log: { events: { action: string }[] }) => log.events.map(({ action }) => action)

describe('an offer', () => {
  test.each([true, false])('changes nothing until its receiver accepts it (live: %s)', async (isLive) => {
    const [ada, bob, eve] = [await api('ada'), await api(`bob-${isLive}`), await api('eve')]
    const { id, name, path } = await agentOf(ada, { isLive })
    const hidden = isLive ? 'forbidden' : 'not_found'
    const offered = await ada('POST', `${path}/transfer`, { subject: `bob-${isLive}` })
    expect(offered.json).toMatchObject({ id, package_name: name, status: 'offered' })

    expect((await ada('GET', path)).json.owner.subject).toBe('ada')
    expect((await bob('GET', `${path}/audit`)).json.code).toBe(hidden)
    expect((await bob('PUT', path, { description: 'Mine.' })).json.code).toBe(hidden)
    expect(await offersTo(bob)).toMatchObject([
      { id, package_name: name, from: { subject: 'ada' }, to: { subject: `bob-${isLive}` } },
    ])
    expect(await offersTo(ada, '?made=true')).toEqual(await offersTo(bob))
    expect(await offersTo(eve)).toEqual([])
    const refused = isLive ? 'wrong_state' : 'not_found'
    expect((await eve('POST', `${path}/accept-transfer`)).json.code).toBe(refused)
    expect((await ada('POST', `${path}/accept-transfer`)).json.code).toBe('wrong_state')

    const accepted = await bob('POST', `${path}/accept-transfer`)
    expect(accepted.json).toMatchObject({ id, owner: { subject: `bob-${isLive}` } })
    expect(await offersTo(bob)).toEqual([])
    expect(await offersTo(ada, '?made=true')).toEqual([])
    expect((await ada('PUT', path, { description: 'Mine.' })).json.code).toBe(hidden)
    const log = actions((await bob('GET', `${path}/audit`)).json)
    expect(log.slice(0, 2)).toEqual(['accept_transfer', 'offer_transfer'])
    expect(log.at(-1)).toBe('publish')
    expect((await bob('POST', `${path}/accept-transfer`)).json.code).toBe('wrong_state')
  })

  test('is made, listed, withdrawn, made again and accepted over JSON-RPC', async () => {
    const [ada, carl, dora] = [await api('ada'), await api('carl'), await api('dora')]
    const { name } = await agentOf(ada)
    expect(await ada.rpc('transfer', { agent: name, subject: 'carl' })).toMatchObject({ status: 'offered' })
    expect((await carl.rpc('list_transfers', {})).offers).toMatchObject([{ package_name: name }])
    expect(await carl.rpc('transfer', { agent: name, subject: null })).toMatchObject({ code: 'forbidden' })
    expect(await ada.rpc('transfer', { agent: name, subject: null })).toMatchObject({ status: 'withdrawn' })
    expect(await ada.rpc('transfer', { agent: name, subject: null })).toMatchObject({ code: 'wrong_state' })
    expect(await carl.rpc('accept_transfer', { agent: name })).toMatchObject({ code: 'wrong_state' })
    await ada.rpc('transfer', { agent: name, subject: 'carl' })
    await ada.rpc('transfer', { agent: name, subject: 'dora' })
    expect(await carl.rpc('accept_transfer', { agent: name })).toMatchObject({ code: 'wrong_state' })
    expect(await dora.rpc('accept_transfer', { agent: name })).toMatchObject({ owner: { subject: 'dora' } })
    expect(await dora.rpc('transfer', { agent: name, subject: 'dora' })).toMatchObject({
      code: 'wrong_state',
    })
  })

  test('is for one (issuer, subject): the same subject of another issuer may not accept it', async () => {
    const [ada, fay] = [await api('ada'), await api('fay')]
    const { path } = await agentOf(ada)
    await ada('POST', `${path}/transfer`, { subject: 'fay', issuer: 'https://login.example' })
    expect(await offersTo(fay)).toEqual([])
    expect((await fay('POST', `${path}/accept-transfer`)).json.code).toBe('wrong_state')
  })

  test('to an issuer that is not known here is refused with those that are', async () => {
    const ada = await api('ada')
    const { path } = await agentOf(ada)
    const { status, json } = await ada('POST', `${path}/transfer`, { subject: 'fay', issuer: home.url })
    expect([status, json.code, json.errors[0].pointer]).toEqual([400, 'invalid_request', '/issuer'])
    expect(json.hint).toContain('urn:dragoman:local, https://login.example.')
    expect(await offersTo(ada, '?made=true')).not.toContainEqual(
      expect.objectContaining({ to: { subject: 'fay' } }),
    )
  })

  test('is for a receiver of the same issuer as its maker, unless another is stated', async () => {
    await using registry = await openRegistry()
    const { id } = await registry.publish(publication('com.given.within'), person('ada'), signal)
    await registry.transfer({ agent: id, subject: 'bob' }, person('ada'))
    expect((await registry.acceptTransfer({ agent: id }, person('bob'))).owner?.subject).toBe('bob')
  })

  test('ends with the deletion of the agent', async () => {
    const [ada, gil] = [await api('ada'), await api('gil')]
    const { path, name } = await agentOf(ada)
    await ada('POST', `${path}/transfer`, { subject: 'gil' })
    expect((await ada('DELETE', path)).status).toBe(204)
    expect(await offersTo(gil)).toEqual([])
    expect((await gil('POST', `${path}/accept-transfer`)).json.code).toBe('not_found')
    await ada('POST', '/api/agents/publish', publication(name))
    expect((await gil('POST', `${path}/accept-transfer`)).json.code).toBe('not_found')
  })

  test('waits while the agent is suspended, without its reason, and can be withdrawn', async () => {
    const [ada, hal] = [await api('ada'), await api('hal')]
    const root = await api('root', { scopes: ['admin'] })
    const { path } = await agentOf(ada)
    await ada('POST', `${path}/transfer`, { subject: 'hal' })
    await root('POST', `${path}/suspend`, { reason: 'Private reason.', suspended: true })
    const refused = await hal('POST', `${path}/accept-transfer`)
    expect(refused.json.code).toBe('suspended')
    expect(refused.text).not.toContain('Private')
    expect(await offersTo(hal)).toEqual([])
    expect((await ada('POST', `${path}/transfer`, { subject: 'eve' })).json.code).toBe('suspended')
    await root('POST', `${path}/suspend`, { reason: 'Mended.', suspended: false })
    expect(await offersTo(hal)).toHaveLength(1)
    await root('POST', `${path}/suspend`, { reason: 'Private reason.', suspended: true })
    expect((await ada('POST', `${path}/transfer`, { subject: null })).json.status).toBe('withdrawn')
  })

  test('is listed page by page', async () => {
    const [ada, ida] = [await api('ada'), await api('ida')]
    const names: string[] = []
    for (let each = 0; each < 5; each++) {
      const { name, path } = await agentOf(ada)
      names.push(name)
      await ada('POST', `${path}/transfer`, { subject: 'ida' })
    }
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json }: Answer = await ida('GET', `/api/transfers?limit=2${cursor && `&cursor=${cursor}`}`)
      found.push(...json.offers.map((offer: { package_name: string }) => offer.package_name))
      cursor = json.next_cursor && encodeURIComponent(json.next_cursor)
    }
    expect(found).toEqual(names)
  })
})

test('a transfer by an admin needs no acceptance, and ends an offer', async () => {
  const [ada, jon] = [await api('ada'), await api('jon')]
  const root = await api('root', { scopes: ['admin'] })
  const { path } = await agentOf(ada)
  await ada('POST', `${path}/transfer`, { subject: 'eve' })
  const done = await root('POST', `${path}/transfer`, { subject: 'jon' })
  expect(done.json.status).toBe('transferred')
  expect((await jon('GET', path)).json.owner.subject).toBe('jon')
  expect(await offersTo(jon, '?made=true')).toEqual([])
  expect(actions((await jon('GET', `${path}/audit`)).json)[0]).toBe('transfer')
})
