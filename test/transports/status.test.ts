import { afterAll, describe, expect, test } from 'vitest'
import { Failure } from '../../schemas/failure.ts'
import { sampleEntry } from '../support/entries.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
const { store, tailer } = home.gateway
const { revision } = await store.write(async (writer) => {
  await writer.put(sampleEntry({ package_name: 'com.example.swans', name: 'Swans' }))
  await writer.put(sampleEntry({ package_name: 'com.example.draft', name: 'Draft', state: 'STAGE' }))
})
await tailer.caughtUp(revision)

afterAll(() => home[Symbol.asyncDispose]())

const read = async (token?: string) =>
  (await home.request('GET', '/public/status', token ? { token } : {})).json

describe('the status of a gateway', () => {
  test('names its version, its store, its revision and the process that answers', async () => {
    const status = await read()
    expect(status).toMatchObject({ status: 'ready', store: { kind: 'sqlite', answers: true }, mirrors: [] })
    expect(status.version).toMatch(/^\d+\.\d+\.\d+/)
    expect(status.applied_revision).toBe(status.revision)
    expect((await read()).node).toEqual(status.node)
  })

  test('counts the public agents by how they are called and whether they answer', async () => {
    const { agents } = await read()
    const listed = (await home.request('GET', '/public/agents?limit=1')).json.total
    expect(agents.total).toBe(listed)
    expect(agents.callable.hosted).toBeGreaterThanOrEqual(4)
    expect(agents.live).toEqual({ answering: listed - 1, silent: 0, unknown: 1 })
  })

  test('counts the calls of this hour, refused ones apart', async () => {
    const before = (await read()).hours.at(-1)
    await home.request('GET', '/public/agents/com.example.nobody')
    const after = (await read()).hours.at(-1)
    expect(after.calls).toBe(before.calls + 2)
    expect(after.refused).toBe(before.refused + 1)
    expect(after.failed).toBe(before.failed)
  })

  test('shows an agent that fails, unless its name is private', async () => {
    const { traffic } = home.gateway
    for (const agent of ['com.example.swans', 'com.example.draft']) {
      for (let at = 0; at < 3; at++) traffic.upstream(agent, 'upstream_failed', 0.2)
    }
    const names = (status: { upstreams: { agent: string }[] }) => status.upstreams.map(({ agent }) => agent)
    expect(names(await read())).toEqual(['com.example.swans'])
    const admin = await home.token('root', { scopes: ['admin'] })
    expect(names(await read(admin)).sort()).toEqual(['com.example.draft', 'com.example.swans'])
  })

  test('has details of the machine for an admin alone', async () => {
    expect((await read()).detail).toBeUndefined()
    expect((await read(await home.token('ada'))).detail).toBeUndefined()
    const { detail } = await read(await home.token('root', { scopes: ['admin'] }))
    expect(detail).toMatchObject({ process: process.pid, reasons: [], mirror_errors: [] })
  })

  test('is degraded for a reason that the operator alone reads', async () => {
    const { health } = home.gateway
    health.add('store_damaged')
    try {
      expect((await read()).status).toBe('degraded')
      expect(JSON.stringify(await read())).not.toContain('store_damaged')
      const admin = await home.token('root', { scopes: ['admin'] })
      expect((await read(admin)).detail.reasons).toEqual(['store_damaged'])
    } finally {
      health.delete('store_damaged')
    }
  })

  test('says that the store does not answer, while it still knows the index', async () => {
    await using other = await startGateway()
    const { read: reader } = other.gateway.store
    const revision = reader.revision.bind(reader)
    Object.assign(reader, { revision: () => Promise.reject(new Failure('unavailable', 'away')) })
    const { json } = await other.request('GET', '/public/status')
    expect(json).toMatchObject({ status: 'degraded', revision: null, store: { answers: false } })
    Object.assign(reader, { revision })
  })
})
