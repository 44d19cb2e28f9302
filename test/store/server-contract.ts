import { describe, expect, test } from 'vitest'
import type { ServerQuery, ServerVersion } from '../../schemas/server.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { sampleEntry } from '../support/entries.ts'
import type { StoreHome } from './contract.ts'

const remote = { protocol: 'mcp', url: 'https://mcp.example.com/mcp' } as const

/** A server as a mirror writes it. */
function mirroredServer(entry: StoredEntry, changes: Partial<ServerVersion> = {}): ServerVersion {
  const at = '2026-01-01T00:00:00.000000000Z'
  return {
    server_name: `Com.${entry.package_name}`,
    version: '1.0.0',
    entry_id: entry.id,
    revision: null,
    mirror: 'other',
    is_listed: true,
    is_bridged: false,
    is_latest: true,
    status: 'active',
    status_message: null,
    status_changed_at: at,
    published_at: at,
    updated_at: at,
    document: { name: entry.package_name },
    meta: { status: 'active' },
    ...changes,
  }
}

/** What every store does with versions under their names in the MCP registry. */
export function serverContract(name: string, open: () => Promise<StoreHome>): void {
  describe(`${name}: a server`, () => {
    const put = (home: StoreHome, ...entries: StoredEntry[]) =>
      home.store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
    const list = async (home: StoreHome, query: Partial<ServerQuery> = {}) =>
      (await home.store.servers.list({ limit: 100, ...query })).map(
        ({ server_name, version }) => `${server_name} ${version}`,
      )
    const sample = (package_name: string, overrides: Partial<StoredEntry> = {}) =>
      sampleEntry({ package_name, endpoints: [remote], version: '1.0.0', ...overrides })

    test('is listed for each public version of an entry that can be run, in the order of names and versions', async () => {
      await using home = await open()
      const weather = sample('com.example.weather')
      await put(
        home,
        weather,
        sample('single'),
        sample('io.github.ada/tool', { packages: [{ registry_type: 'npm', identifier: 'tool' }] }),
        sample('com.example.words', { endpoints: [] }),
        sample('com.example.hidden', { state: 'STAGE' }),
      )
      for (const version of ['1.10.0', '1.2.0']) await put(home, { ...weather, version })
      const names = [
        'com.example/weather 1.0.0',
        'com.example/weather 1.10.0',
        'com.example/weather 1.2.0',
        'io.github.ada/tool 1.0.0',
        'local/single 1.0.0',
      ]
      expect(await list(home)).toEqual(names)
      expect(await list(home, { is_latest: true })).toEqual([names[1], names[3], names[4]])
      expect(await list(home, { version: '1.2.0' })).toEqual([names[2]])
      expect(await list(home, { name_contains: 'ADA/t' })).toEqual([names[3]])
      expect(await list(home, { limit: 2 })).toEqual(names.slice(0, 2))
      const after = { server_name: 'com.example/weather', version: '1.10.0' }
      expect(await list(home, { after, limit: 2 })).toEqual(names.slice(2, 4))
      expect((await home.store.servers.versions('com.example/weather', false)).length).toBe(3)
      expect(await home.store.servers.find('com.example/weather', 'latest', false)).toMatchObject({
        version: '1.10.0',
        entry_id: weather.id,
        status: 'active',
        is_latest: true,
      })
    })

    test('keeps its name: of two entries with one name, the later one gets a number', async () => {
      await using home = await open()
      const [slash, dot] = [sample('com.example/weather'), sample('com.example.weather')]
      await put(home, slash, dot)
      await put(home, { ...dot, version: '2.0.0' })
      expect(await list(home)).toEqual([
        'com.example/weather 1.0.0',
        'com.example/weather-2 1.0.0',
        'com.example/weather-2 2.0.0',
      ])
    })

    test('without a version is listed by revision, and the last one is the latest', async () => {
      await using home = await open()
      const entry = sample('com.example.weather', { version: null })
      await put(home, entry)
      for (let count = 2; count <= 11; count++) await put(home, { ...entry, description: `Text ${count}.` })
      expect(await list(home, { is_latest: true })).toEqual(['com.example/weather 0.0.0-r.11'])
    })

    test('is hidden with its entry, and shown again without the versions of a deleted one', async () => {
      await using home = await open()
      const entry = sample('com.example.weather')
      await put(home, entry)
      await put(home, { ...entry, suspended: { reason: 'It lied.', at: '2026-01-01T00:00:00.000Z' } })
      expect(await list(home)).toEqual([])
      expect(await list(home, { include_deleted: true })).toEqual(['com.example/weather 1.0.0'])
      await put(home, entry)
      expect(await list(home)).toEqual(['com.example/weather 1.0.0'])
      await put(home, { ...entry, deleted: true })
      await put(home, { ...entry, version: '2.0.0', versions_after: 4 })
      expect(await list(home)).toEqual(['com.example/weather 2.0.0'])
    })

    test('is deprecated with its entry', async () => {
      await using home = await open()
      const entry = sample('com.example.weather')
      await put(home, entry)
      const deprecated = { message: 'Use the other.', successor: null, at: '2026-01-01T00:00:00.000Z' }
      await put(home, { ...entry, deprecated })
      const found = () => home.store.servers.find('com.example/weather', '1.0.0', false)
      expect(await found()).toMatchObject({ status: 'deprecated', status_message: 'Use the other.' })
      await put(home, entry)
      expect(await found()).toMatchObject({ status: 'active', status_message: null })
    })

    test('of an agent without an MCP endpoint and without a package is bridged', async () => {
      await using home = await open()
      const agent = { protocol: 'a2a', url: 'https://agent.example.com/a2a' } as const
      await put(home, sample('com.example.agent', { endpoints: [agent] }), sample('com.example.server'))
      expect(await list(home, { bridged: false })).toEqual(['com.example/server 1.0.0'])
      expect((await list(home)).length).toBe(2)
    })

    test('of a mirror is listed as the mirror states it, whatever its entry states', async () => {
      await using home = await open()
      const origin = {
        source: 'other',
        kind: 'mcp-registry' as const,
        url: 'https://registry.example.com',
        name: 'Com.Example/Weather',
        license: null,
        attribution: null,
        takedown: null,
        removed: false,
      }
      const entry = sample('com.example/weather', { origin })
      const server = mirroredServer(entry, {
        server_name: origin.name,
        updated_at: '2026-01-01T00:00:00.123456000Z',
        document: { name: origin.name, nested: { packageArguments: [null] } },
      })
      await home.store.write(async (writer) => {
        await writer.put(entry)
        await writer.putServers([server])
      })
      expect(await home.store.servers.list({ limit: 10 })).toEqual([server])
      expect(await home.store.servers.latestOf([entry.id])).toEqual(new Map([[entry.id, server]]))
      expect(await list(home, { updated_since: server.updated_at })).toEqual([])
      expect(await list(home, { updated_since: '2026-01-01T00:00:00.123455999Z' })).toHaveLength(1)
      await home.store.write((writer) => writer.putServers([{ ...server, status: 'deleted' }]))
      expect(await list(home)).toEqual([])
      expect(await list(home, { include_deleted: true })).toHaveLength(1)
      const { result } = await home.store.write((writer) => writer.serversNamed([origin.name]))
      expect(result).toEqual([{ ...server, status: 'deleted' }])
      await home.store.retention.purge(entry, [], { actor: null, action: 'purge' })
      expect(await list(home, { include_deleted: true })).toEqual([])
    })

    test('of a mirror goes to its entry, or is released; public agents that a run missed are counted', async () => {
      await using home = await open()
      const [first, second, hidden] = [
        sample('com.example/a'),
        sample('com.example/b'),
        sample('com.example/c'),
      ]
      const items = [first, second, hidden].map(({ id }) => ({ key: id, entry_id: id }))
      await put(home, first, second, { ...hidden, state: 'STAGE' })
      await home.store.write(async (writer) => {
        await writer.putServers([mirroredServer(first), mirroredServer(second)])
        await writer.putMirrored('other', 1, items)
        await writer.putMirrored('other', 2, items.slice(0, 1))
      })
      expect(await home.store.mirrors.count('other', 2)).toEqual({ listed: 2, missing: 1 })
      const { rows, bytes } = await home.store.mirrors.size('other')
      expect(rows).toBe(5)
      expect(bytes).toBeGreaterThan(JSON.stringify(first).length)
      expect(await home.store.mirrors.size('none')).toEqual({ rows: 0, bytes: 0 })
      expect(await home.store.mirrors.count('none', 2)).toEqual({ listed: 0, missing: 0 })
      await home.store.write(async (writer) => {
        await writer.adoptServers('other', { id: first.id, revision: 7 }, '2026-02-01T00:00:00.000Z')
        await writer.releaseServers('other', second.id)
      })
      expect(await home.store.servers.versions(`Com.${first.package_name}`, true)).toEqual([
        {
          ...mirroredServer(first),
          mirror: null,
          meta: null,
          revision: 7,
          updated_at: '2026-02-01T00:00:00.000000000Z',
        },
      ])
      expect(await home.store.servers.versions(`Com.${second.package_name}`, true)).toEqual([])
      expect((await home.store.mirrors.items('other', { limit: 9 })).map(({ entry_id }) => entry_id)).toEqual(
        [first.id, hidden.id].sort(),
      )
    })
  })
}
