import { resolve } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digestFormat } from '../../src/store/migrations/0014-digest-format.ts'
import { sampleEntry } from '../support/entries.ts'
import { postgresFolder, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { run } from '../support/processes.ts'
import { approvalContract } from './approval-contract.ts'
import { callContract } from './call-contract.ts'
import { changeContract } from './change-contract.ts'
import { storeContract, undoNewest } from './contract.ts'
import { credentialContract } from './credential-contract.ts'
import { dumpRestoreContract } from './dump-restore-contract.ts'
import { idempotencyContract } from './idempotency-contract.ts'
import { livenessContract } from './liveness-contract.ts'
import { movesToLocalPerson } from './local-person.ts'
import { openPlain, type PostgresHome } from './postgres-database.ts'
import { invalidationContract } from './postgres-invalidations.ts'
import { outageContract } from './postgres-outage.ts'
import { transactionContract } from './postgres-transactions.ts'
import { retentionContract } from './retention-contract.ts'
import { serverContract } from './server-contract.ts'
import { sessionContract } from './session-contract.ts'
import { signInContract } from './sign-in-contract.ts'
import { taskContract } from './task-contract.ts'
import { usageContract } from './usage-contract.ts'
import { versionContract } from './version-contract.ts'
import { webhookContract } from './webhook-contract.ts'

/** Every table empty and every counter at 0. */
const emptied = `
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = 'public' and tablename not like 'kysely%' loop
      execute format('delete from %I', name);
    end loop;
    insert into counter values ('revision', 0), ('audit', 0), ('liveness', 0);
  end $$`

const fixture = resolve(import.meta.dirname, 'other-process.ts')

describe.skipIf(!postgresFolder)('PostgreSQL', () => {
  let postgres: TestPostgres
  let migrated: string
  /** Databases that are not in use, emptied. */
  const idle: string[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
    migrated = await postgres.createDatabase()
    await using _ = await openPlain(migrated)
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())

  async function openHome(): Promise<PostgresHome> {
    const stack = new AsyncDisposableStack()
    const url = idle.pop() ?? (await postgres.createDatabase(migrated))
    stack.defer(async () => {
      await postgres.query(url, emptied)
      idle.push(url)
    })
    const another = async () => stack.use(await openPlain(url))
    return {
      url,
      store: await another(),
      another,
      sees_others: false,
      awaitRevision: (store, revision) =>
        vi.waitFor(async () => expect(await store.read.revision()).toBeGreaterThanOrEqual(revision), {
          timeout: 2000,
          interval: 1,
        }),
      async elsewhere(prefix, count) {
        const { code, stdout, stderr } = await run(process.execPath, [fixture, url, prefix, String(count)])
          .ended
        if (code !== 0) throw new Error(stderr)
        return stdout.trim().split('\n').map(Number)
      },
      async spoil(id, document) {
        await postgres.query(url, 'update entry set document = $1 where id = $2', [document, id])
      },
      async execute(sql) {
        await postgres.query(url, sql)
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    }
  }

  storeContract('PostgreSQL', openHome)
  changeContract('PostgreSQL', openHome)
  versionContract('PostgreSQL', openHome)
  serverContract('PostgreSQL', openHome)
  usageContract('PostgreSQL', openHome)
  idempotencyContract('PostgreSQL', openHome)
  approvalContract('PostgreSQL', openHome)
  credentialContract('PostgreSQL', openHome)
  taskContract('PostgreSQL', openHome)
  sessionContract('PostgreSQL', openHome)
  livenessContract('PostgreSQL', openHome)
  callContract('PostgreSQL', openHome)
  dumpRestoreContract('PostgreSQL', openHome)
  retentionContract('PostgreSQL', openHome)
  webhookContract('PostgreSQL', openHome)
  signInContract('PostgreSQL', openHome)
  invalidationContract(() => postgres, openHome)
  outageContract(() => postgres, openHome)
  transactionContract(() => postgres, openHome)

  test('a closed store leaves no connection open, which would keep its process running', async () => {
    const url = await postgres.createDatabase(migrated)
    {
      await using store = await openPlain(url)
      await store.write((writer) => writer.put(sampleEntry()))
    }
    const others = `select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    await expect.poll(() => postgres.query(url, others)).toEqual([])
  })

  test('four processes may open a fresh database at once', async () => {
    const url = await postgres.createDatabase()
    const peers = ['a', 'b', 'c', 'd'].map((prefix) => run(process.execPath, [fixture, url, prefix, '2']))
    const ends = await Promise.all(peers.map((peer) => peer.ended))
    expect(ends.map(({ code, stderr }) => `${code} ${stderr}`)).toEqual(['0 ', '0 ', '0 ', '0 '])
    await using store = await openPlain(url)
    expect(await store.read.revision()).toBe(8)
  })

  test('migration 0014 recomputes the digests of older versions', async () => {
    const url = await postgres.createDatabase(migrated)
    const entries = Array.from({ length: 201 }, (_, index) => sampleEntry({ description: `Agent ${index}.` }))
    const digests = () =>
      postgres.query(url, 'select entry_id, sha256, digest_format from version order by 1')
    {
      await using store = await openPlain(url)
      await store.write(async (writer) => {
        for (const entry of entries) await writer.put(entry)
      })
    }
    const before = await digests()
    expect(before).toHaveLength(201)
    await postgres.query(url, `update version set sha256 = 'of format 1'`)
    await postgres.query(url, 'alter table version drop column digest_format')
    await using db = new Kysely({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
    })
    await digestFormat.up(db)
    expect(await digests()).toEqual(before)
  })

  /** Undoes the migrations from 0019 on. */
  async function withoutUsage(url: string): Promise<void> {
    await postgres.query(
      url,
      'drop table owner_usage, server, mirror, mirrored, sign_in, approval, liveness_day, call_day',
    )
    await postgres.query(url, 'alter table credential rename constraint credential_place to credential_key')
    await postgres.query(url, 'alter table task drop column push')
    await postgres.query(url, 'alter table credential drop column sign_in')
    for (const column of ['account', 'staged', 'bytes'])
      await postgres.query(url, `alter table entry drop column ${column}`)
    await postgres.query(url, 'drop index entry_owner, audit_actor, change_entry')
    await postgres.query(url, `${undoNewest}; delete from kysely_migration where name >= '0019'`)
  }

  test('migration 0019 counts what the entries of owners use', async () => {
    const url = await postgres.createDatabase(migrated)
    const ada = { issuer: 'urn:test', subject: 'ada', namespace: null }
    const usage = () =>
      postgres.query(url, 'select account, entries, stage_entries, bytes from owner_usage order by 1')
    {
      await using store = await openPlain(url)
      await store.write(async (writer) => {
        await writer.put(sampleEntry())
        await writer.put(sampleEntry({ owner: ada, deleted: true }))
        await writer.put(sampleEntry({ owner: { ...ada, namespace: 'com.team' } }))
        for (let count = 0; count < 501; count++)
          await writer.put(sampleEntry({ owner: ada, state: 'STAGE', description: 'Zażółć.' }))
      })
    }
    const before = await usage()
    expect(before).toMatchObject([
      { account: '["urn:test","ada"]', entries: '501', stage_entries: '501' },
      { account: 'com.team', entries: '1', stage_entries: '0' },
    ])
    await withoutUsage(url)
    await using _ = await openPlain(url)
    expect(await usage()).toEqual(before)
  })

  test('migration 0028 gives the person at the machine what its command line stored', async () => {
    const url = await postgres.createDatabase(migrated)
    await movesToLocalPerson(
      () => openPlain(url),
      () =>
        postgres.query(
          url,
          `drop table call_day; ${undoNewest}; delete from kysely_migration where name >= '0028'`,
        ),
    )
  })

  test('migration 0022 lists the versions that exist', async () => {
    const url = await postgres.createDatabase(migrated)
    const packages = [{ registry_type: 'npm', identifier: 'tool' }]
    const entry = sampleEntry({ package_name: 'com.example.weather', packages, version: '1.10.0' })
    const servers = () => postgres.query(url, 'select * from server order by server_name, version')
    {
      await using store = await openPlain(url)
      await store.write((writer) => writer.put(entry))
      await store.write((writer) => writer.put({ ...entry, version: '1.2.0' }))
    }
    const before = await servers()
    expect(before).toHaveLength(2)
    await withoutUsage(url)
    await using _ = await openPlain(url)
    expect(await servers()).toEqual(before)
  })
})
