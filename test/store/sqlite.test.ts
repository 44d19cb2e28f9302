import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Kysely } from 'kysely'
import { describe, expect, test } from 'vitest'
import { principalKey } from '../../src/common/principal-key.ts'
import { listed as listedMigration } from '../../src/store/migrations/0009-listed.ts'
import { versions as versionsMigration } from '../../src/store/migrations/0010-versions.ts'
import { changes as changesMigration } from '../../src/store/migrations/0012-changes.ts'
import { digestFormat as digestFormatMigration } from '../../src/store/migrations/0014-digest-format.ts'
import { sqliteDialect } from '../../src/store/sqlite/dialect.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoredEntry } from '../../src/store/stored-entry.ts'
import { temporaryFolder } from '../support/command.ts'
import { writeEmptyDatabase } from '../support/empty-database.ts'
import { sampleEntry } from '../support/entries.ts'
import { run } from '../support/processes.ts'
import { approvalContract } from './approval-contract.ts'
import { callContract } from './call-contract.ts'
import { changeContract } from './change-contract.ts'
import { type StoreHome, storeContract, storeTime, undoNewest } from './contract.ts'
import { credentialContract } from './credential-contract.ts'
import { dumpRestoreContract } from './dump-restore-contract.ts'
import { idempotencyContract } from './idempotency-contract.ts'
import { livenessContract } from './liveness-contract.ts'
import { movesToLocalPerson } from './local-person.ts'
import { retentionContract } from './retention-contract.ts'
import { serverContract } from './server-contract.ts'
import { sessionContract } from './session-contract.ts'
import { signInContract } from './sign-in-contract.ts'
import { taskContract } from './task-contract.ts'
import { usageContract } from './usage-contract.ts'
import { versionContract } from './version-contract.ts'
import { webhookContract } from './webhook-contract.ts'

const fixture = resolve(import.meta.dirname, 'other-process.ts')

async function openHome(): Promise<StoreHome & { readonly path: string }> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const path = join(folder.path, 'registry.sqlite')
  await writeEmptyDatabase(path)
  const another = async () => stack.use(await openSqliteStore(path, () => storeTime))
  return {
    path,
    store: await another(),
    another,
    awaitRevision: () => nextTurn(),
    sees_others: true,
    async elsewhere(prefix, count) {
      const { code, stdout, stderr } = await run(process.execPath, [fixture, path, prefix, String(count)])
        .ended
      if (code !== 0) throw new Error(stderr)
      return stdout.trim().split('\n').map(Number)
    },
    async spoil(id, document) {
      const database = new DatabaseSync(path)
      database.prepare('update entry set document = ? where id = ?').run(document, id)
      database.close()
    },
    async execute(sql) {
      using database = new DatabaseSync(path)
      database.exec(sql)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

storeContract('SQLite', openHome)
changeContract('SQLite', openHome)
approvalContract('SQLite', openHome)
credentialContract('SQLite', openHome)
versionContract('SQLite', openHome)
serverContract('SQLite', openHome)
usageContract('SQLite', openHome)
idempotencyContract('SQLite', openHome)
taskContract('SQLite', openHome)
sessionContract('SQLite', openHome)
livenessContract('SQLite', openHome)
callContract('SQLite', openHome)
dumpRestoreContract('SQLite', openHome)
retentionContract('SQLite', openHome)
test('old audit events go also where an event before them is of a clock that was ahead', async () => {
  await using folder = await temporaryFolder()
  const time = { now: storeTime + 86_400_000 }
  await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'), () => time.now)
  const entry = sampleEntry()
  const record = (count: number) =>
    store.write(async (writer) => {
      for (let index = 0; index < count; index++)
        await writer.record(entry.id, { actor: null, action: 'test' })
    })
  await record(1)
  time.now = storeTime
  await record(600)
  const bounds = { now: storeTime, versions: '', changes: '', deleted: '', liveness: 0 }
  const audit = new Date(storeTime + 1).toISOString()
  const ends = { ...bounds, audit, max_versions: 9, max_audit: 1000 }
  expect((await store.retention.prune(ends)).audit).toBe(600)
  expect((await store.retention.prune(ends)).audit).toBe(0)
})
webhookContract('SQLite', openHome)
signInContract('SQLite', openHome)

test('a pass of many queries over SQLite lets other work run', async () => {
  await using home = await openHome()
  let hasRun = false
  setTimeout(() => {
    hasRun = true
  })
  for (let query = 0; query < 50_000 && !hasRun; query++) await home.store.settings.get('none')
  expect(hasRun).toBe(true)
})

describe('SQLite', () => {
  test('migration 0019 counts what the entries of owners use, but not rows that it cannot read', async () => {
    await using home = await openHome()
    const { store, path } = home
    const ada = { issuer: 'urn:test', subject: 'ada', namespace: null }
    const spoiled = sampleEntry({ owner: ada })
    await store.write(async (writer) => {
      await writer.put(sampleEntry())
      await writer.put(sampleEntry({ owner: ada, deleted: true }))
      await writer.put(sampleEntry({ owner: { ...ada, namespace: 'com.team' } }))
      for (let count = 0; count < 501; count++)
        await writer.put(sampleEntry({ owner: ada, state: 'STAGE', description: 'Zażółć.' }))
    })
    const accounts = [principalKey(ada), 'com.team']
    const used = async (from: Store) =>
      [...(await from.usage.get(accounts)).values()].map((usage) => usage.used)
    const before = await used(store)
    expect(before).toMatchObject([{ entries: 501, stage_entries: 501 }, { entries: 1 }])
    await store.write((writer) => writer.put(spoiled))
    await home.spoil(spoiled.id, 'not JSON')
    {
      using database = new DatabaseSync(path)
      database.exec(
        'drop table owner_usage; drop table server; drop table mirror; drop table mirrored; drop table sign_in; drop table approval; drop table liveness_day; drop table call_day; drop index change_entry',
      )
      database.exec('alter table task drop column push')
      database.exec('alter table credential drop column sign_in')
      for (const column of ['account', 'staged', 'bytes'])
        database.exec(`alter table entry drop column ${column}`)
      database.exec('drop index entry_owner; drop index audit_actor')
      database.exec(`${undoNewest}; delete from kysely_migration where name >= '0019'`)
    }
    const again = await used(await home.another())
    expect(again).toEqual(before.map((usage) => ({ ...usage, versions_per_day: 0 })))
  })

  test('migration 0022 lists the versions that exist', async () => {
    await using home = await openHome()
    const { store, path } = home
    const endpoints = [{ protocol: 'mcp', url: 'https://mcp.example.com/mcp' } as const]
    const entry = sampleEntry({ package_name: 'com.example.weather', endpoints, version: '1.10.0' })
    const deprecated = { message: 'Old.', successor: null, at: '2026-01-01T00:00:00.000Z' }
    const packages = [{ registry_type: 'npm', identifier: 'tool' }]
    await store.write(async (writer) => {
      await writer.put(entry)
      await writer.put(sampleEntry({ package_name: 'single', packages, deprecated }))
      await writer.put(sampleEntry({ packages, state: 'STAGE' }))
      await writer.put(sampleEntry())
    })
    for (const version of ['1.2.0', null]) await store.write((writer) => writer.put({ ...entry, version }))
    const before = await store.servers.list({ limit: 10 })
    expect(before).toHaveLength(4)
    {
      using database = new DatabaseSync(path)
      database.exec(
        `drop table server; drop table mirror; drop table mirrored; drop table sign_in; drop table approval; drop table liveness_day; drop table call_day; drop index change_entry`,
      )
      database.exec('alter table credential drop column sign_in')
      database.exec(`${undoNewest}; delete from kysely_migration where name >= '0022'`)
    }
    expect(await (await home.another()).servers.list({ limit: 10 })).toEqual(before)
  })

  test('versions of a day are counted until the day ends', async () => {
    await using folder = await temporaryFolder()
    let now = Date.UTC(2026, 0, 1, 23, 59)
    await using store = await openSqliteStore(join(folder.path, 'registry.sqlite'), () => now)
    const owner = { issuer: 'urn:test', subject: 'ada', namespace: null }
    const account = principalKey(owner)
    const versions = async () => (await store.usage.get([account])).get(account)?.used.versions_per_day
    const entry = sampleEntry({ owner })
    const publish = (description: string) => store.write((writer) => writer.put({ ...entry, description }))
    await publish('One.')
    await publish('Two.')
    expect(await versions()).toBe(2)
    now += 120_000
    expect(await versions()).toBe(0)
    await publish('Three.')
    expect(await versions()).toBe(1)
  })

  test('a commit at any moment of a read loses nothing from its result and leaves nothing stale', async () => {
    await using home = await openHome()
    const { store, path } = home
    const [unchanged, changing] = [sampleEntry(), sampleEntry()]
    await store.write(async (writer) => {
      await writer.put(unchanged)
      await writer.put(changing)
    })
    using database = new DatabaseSync(path)
    const update = database.prepare('update entry set document = ? where id = ?')
    const change = (name: string) =>
      update.run(JSON.stringify({ ...changing, name, revision: 2 }), changing.id)
    const ids = [unchanged.id, changing.id]

    for (let moment = 0; moment < 40; moment++) {
      change(`before ${moment}`)
      await store.read.entries([unchanged.id])
      const reading = store.read.entries(ids)
      for (let turn = 0; turn < moment; turn++) await Promise.resolve()
      change(`after ${moment}`)
      const other = store.read.entries([unchanged.id])
      expect((await reading).map((entry) => entry.id)).toEqual(ids)
      await other
      await nextTurn()
      expect((await store.read.entries(ids))[1]?.name).toBe(`after ${moment}`)
      expect((await store.read.entry({ id: changing.id }))?.name).toBe(`after ${moment}`)
    }
  })

  test('a commit of another process between two of this one is seen', async () => {
    await using home = await openHome()
    const { store } = home
    const other = await home.another()
    const [theirs, ours] = [sampleEntry(), sampleEntry()]
    const put = (entry: StoredEntry, writing = store) => writing.write((writer) => writer.put(entry))
    await put(theirs)
    for (let round = 0; round < 20; round++) {
      await put(ours)
      await store.read.entries([theirs.id, ours.id])
      await put({ ...theirs, name: `Theirs ${round}` }, other)
      await put({ ...ours, name: `Ours ${round}` })
      const found = await store.read.entries([theirs.id, ours.id])
      expect(found.map((entry) => entry.name)).toEqual([`Theirs ${round}`, `Ours ${round}`])
      expect(await store.read.revision()).toBe(found[1]?.revision)
    }
  })

  test.each([
    ['a read', false],
    ['a read of the log and of a cached entry', true],
  ])('a commit of this process at any moment of %s leaves nothing stale', async (_, isCached) => {
    await using home = await openHome()
    const { store } = home
    const other = await home.another()
    const entry = sampleEntry()
    const read = () => store.read.entry({ id: entry.id })

    async function readAt(moment: number, revision: number): Promise<void> {
      // The reads of a decision end with a tick; after it come the statements and the commit, in microtasks.
      await new Promise<void>((resolve) => process.nextTick(resolve))
      for (let turn = 0; turn < moment; turn++) await Promise.resolve()
      const changes = isCached ? await store.changes(revision, 1) : []
      const found = await read()
      if (changes.length > 0) expect(found?.name).toBe('After')
    }

    for (let moment = 0; moment < 100; moment++) {
      // What another process wrote is in no cache of this one.
      const { revision } = await (isCached ? store : other).write((writer) =>
        writer.put({ ...entry, name: 'Before' }),
      )
      let reading: Promise<void> | undefined
      await store.change(async (reads) => {
        const before = await reads.entry({ id: entry.id })
        reading = readAt(moment, revision)
        return { before, entry: { ...entry, name: 'After' }, audit: { actor: null, action: 'test' } }
      })
      await reading
      expect((await read())?.name).toBe('After')
      expect(await store.read.revision()).toBe(revision + 1)
    }
  })

  test('four processes may open a fresh folder at once', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'fresh', 'registry.sqlite')
    const peers = ['a', 'b', 'c', 'd'].map((prefix) => run(process.execPath, [fixture, path, prefix, '2']))
    const ends = await Promise.all(peers.map((peer) => peer.ended))
    expect(ends.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ', '0 ', '0 '])
    await using store = await openSqliteStore(path)
    expect(await store.read.revision()).toBe(8)
  })

  test('a migrated folder knows its listed entries, each with its first version', async () => {
    await using home = await openHome()
    const listed = sampleEntry({ package_name: 'com.listed', version: '1.0.0' })
    const staged = sampleEntry({ package_name: 'com.staged', state: 'STAGE' })
    const spoilt = sampleEntry({ package_name: 'com.spoilt' })
    await home.store.write(async (writer) => {
      await writer.put(listed)
      await writer.put(staged)
      await writer.put(spoilt)
    })
    await home.spoil(spoilt.id, '{"id": ')
    const database = new DatabaseSync(home.path)
    database.exec(`
      alter table entry drop column listed; drop table version;
      alter table change drop column seen; drop table webhook`)
    const older = new Kysely<unknown>({ dialect: sqliteDialect(database) })
    await listedMigration.up(older)
    await versionsMigration.up(older)
    await changesMigration.up(older)
    await digestFormatMigration.up(older)
    database.close()
    await using store = await openSqliteStore(home.path)
    expect(await store.read.listedNames('com.', 10)).toEqual(['com.listed'])
    expect(await store.versions.find(listed.id, 0, { version: '1.0.0' })).toMatchObject({
      revision: 1,
      published_at: listed.updated_at,
    })
    const changes = await store.changes(0, 10)
    expect(changes.map(({ seen }) => seen)).toEqual(['listed', 'unseen', 'unseen'])
    for (const { id } of [staged, spoilt]) expect((await store.versions.extent(id, 0)).total).toBe(0)
  })

  test('an upgrade tells which migrations it ran, a new folder and a second start tell nothing', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    const upgrades: (readonly string[])[] = []
    const open = () =>
      openSqliteStore(path, Date.now, { onMigrate: (migrations) => upgrades.push(migrations) })
    await (await open())[Symbol.asyncDispose]()
    const database = new DatabaseSync(path)
    database.exec(
      `drop index change_entry; drop table call_day; ${undoNewest}; delete from kysely_migration where name >= '0027'`,
    )
    database.close()
    expect(upgrades).toEqual([])
    await (await open())[Symbol.asyncDispose]()
    await (await open())[Symbol.asyncDispose]()
    expect(upgrades).toEqual([
      [
        '0027-change-by-entry',
        '0028-local-person',
        '0029-call-days',
        '0030-audit-action',
        '0031-task-agent',
        '0032-suspended',
        '0033-task-holder',
      ],
    ])
  })

  test('migration 0032 lists what was suspended before it, and passes by what cannot be read', async () => {
    await using home = await openHome()
    const suspended = { reason: 'It says "suspended":{}.', at: '2026-01-01T00:00:00.000Z' }
    const [entry, spoilt] = [sampleEntry({ suspended }), sampleEntry({ suspended })]
    await home.store.write(async (writer) => {
      for (const each of [entry, spoilt, sampleEntry({ description: '"suspended":{' })])
        await writer.put(each)
    })
    await home.spoil(spoilt.id, '{"suspended":{')
    const before = await home.store.read.entry({ id: entry.id })
    const database = new DatabaseSync(home.path)
    database.exec(`${undoNewest}; delete from kysely_migration where name >= '0031'`)
    database.close()
    const migrated = await home.another()
    expect(await migrated.read.suspended('admin', 10)).toMatchObject([{ entry: before, by: null }])
  })

  test('migration 0028 gives the person at the machine what its command line stored', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    await movesToLocalPerson(
      () => openSqliteStore(path),
      async () => {
        const database = new DatabaseSync(path)
        database.exec(`drop table call_day; ${undoNewest}; delete from kysely_migration where name >= '0028'`)
        database.close()
      },
    )
  })

  test('a folder of a newer version is refused and left unchanged', async () => {
    await using home = await openHome()
    const database = new DatabaseSync(home.path)
    database.exec(`insert into kysely_migration values ('9999-later', '2030-01-01')`)
    database.close()
    await expect(home.another()).rejects.toMatchObject({
      code: 'not_configured',
      message: 'The store was made by a newer version (9999-later).',
    })
  })

  test('an interrupted migration is repeated from the start', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'registry.sqlite')
    await expect(openHalfMigrated(path)).rejects.toThrow('pulled the plug')
    await using store = await openSqliteStore(path)
    expect(await store.read.revision()).toBe(0)
  })
})

/** A first start whose migration fails after some of its statements. */
async function openHalfMigrated(path: string): Promise<void> {
  const prepare = DatabaseSync.prototype.prepare
  DatabaseSync.prototype.prepare = function (sql: string) {
    if (sql.includes('create table "counter"')) throw new Error('pulled the plug')
    return prepare.call(this, sql)
  }
  try {
    await using _ = await openSqliteStore(path)
  } finally {
    DatabaseSync.prototype.prepare = prepare
  }
}
