import { execFile } from 'node:child_process'
import { accessSync, chownSync, constants, globSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { temporaryFolder } from './command.ts'

const execute = promisify(execFile)

/** A PostgreSQL server in a temporary folder, which is removed when the server is disposed. */
export interface TestPostgres extends AsyncDisposable {
  /** The address of a fresh database, which sorts texts by a human language: empty, or a copy of another one. */
  createDatabase(copied?: string): Promise<string>
  /** Runs SQL in a database. */
  query(
    url: string,
    sql: string,
    parameters?: readonly unknown[],
  ): Promise<readonly Record<string, unknown>[]>
  stop(): Promise<void>
  start(): Promise<void>
  /** Starts the stopped server as a replica, which takes no writes until `select pg_promote()`. */
  startReplica(): Promise<void>
}

/** The folder of `initdb` and the other PostgreSQL programs; undefined without PostgreSQL. */
export const postgresFolder = findFolder()

if (!postgresFolder) console.error('No PostgreSQL is installed here: its tests are skipped.')

function findFolder(): string | undefined {
  const installed = globSync('/usr/lib/postgresql/*/bin').toSorted().toReversed()
  const path = (process.env.PATH ?? '').split(delimiter)
  return [...installed, ...path].find((folder) => {
    try {
      accessSync(join(folder, 'initdb'), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** PostgreSQL refuses to run as root: it then runs as the user `nobody`. Undefined if it runs as the current user. */
export const postgresUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** `changed` are settings by the names of postgresql.conf. By default the server does not sync to the disk. */
export async function startPostgres(changed: Record<string, string> = {}): Promise<TestPostgres> {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  if (postgresUser) chownSync(folder.path, postgresUser.uid, postgresUser.gid)
  const data = join(folder.path, 'data')
  const run = (name: string, ...args: string[]) =>
    execute(join(postgresFolder ?? '', name), args, {
      ...postgresUser,
      cwd: folder.path,
      env: { LC_ALL: 'C.UTF-8' },
    })

  await run(
    'initdb',
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--no-sync',
    '--no-instructions',
  )
  // One socket in the folder and no port, so that servers do not collide.
  const settings = {
    listen_addresses: "''",
    unix_socket_directories: folder.path,
    fsync: 'off',
    max_connections: '200',
    shared_buffers: '16MB',
    autovacuum: 'off',
    ...changed,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = async () => {
    await run('pg_ctl', '-D', data, '-l', join(folder.path, 'log'), '-w', '-o', options.join(' '), 'start')
  }
  const stop = async () => {
    await run('pg_ctl', '-D', data, '-m', 'immediate', 'stop').catch(() => {})
  }
  await start()
  stack.defer(stop)

  const addressOf = (database: string) =>
    `postgresql:///${database}?user=postgres&host=${encodeURIComponent(folder.path)}`
  const query: TestPostgres['query'] = async (url, sql, parameters = []) => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql, [...parameters])).rows
    } finally {
      await client.end()
    }
  }

  let made = 0
  return {
    query,
    start,
    stop,
    async startReplica() {
      const signal = join(data, 'standby.signal')
      writeFileSync(signal, '')
      if (postgresUser) chownSync(signal, postgresUser.uid, postgresUser.gid)
      await start()
    },
    async createDatabase(copied) {
      made += 1
      const name = `test_${made}`
      const human = `template0 locale_provider icu icu_locale 'en-US'`
      const template = copied === undefined ? human : new URL(copied).pathname.slice(1)
      await query(addressOf('postgres'), `create database ${name} template ${template} strategy file_copy`)
      return addressOf(name)
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
