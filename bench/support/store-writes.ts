import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../../test/support/command.ts'
import {
  type BareWriter,
  barePublishesOnPostgres,
  barePublishesOnSqlite,
  rowsOfLast,
  type Write,
} from './bare-publishes.ts'
import { median, type Row } from './measure.ts'
import { publication, publishTo, writeAll } from './publications.ts'

const callers = 6
const publishes = 300
const commits = 600
const rounds = 7

/**
 * Publishes a second by 6 concurrent callers, against the bare driver with as many: one that commits one row a
 * transaction, and one that writes the rows of a publish (the entry, its change, its row in the audit log, two
 * counters, its vectors).
 */
export async function writes(name: string, database?: string, same?: string): Promise<Row[]> {
  await using folder = await temporaryFolder()
  const config = readConfig({
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_LIVENESS: 'off',
    ...(database !== undefined && { DATABASE_URL: database }),
  })
  await using gateway = await openGateway(config, { log: createLogger('silent') })
  await gateway.ready
  const publish = publishTo(gateway)
  let published = 0
  const rate = async (count: number, write: Write) => {
    const first = published
    published += count
    return await perSecond(first, count, write)
  }
  await rate(publishes, publish)
  // Vectors are stored shortly after the publish.
  await pause(1000)
  await using bare = database === undefined ? bareSqlite(folder.path) : await barePostgres(database)
  await using full =
    database === undefined || same === undefined
      ? await sameOnSqlite(folder.path)
      : await sameOnPostgres(database, same)
  await rate(commits, bare.commit)
  await rate(commits, full.commit)
  const [ours, theirs, alike]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await rate(publishes, publish))
    theirs.push(await rate(commits, bare.commit))
    alike.push(await rate(commits, full.commit))
  }
  const against = (what: string, base: readonly number[]): Row => ({
    name: `${name}: publishes by ${callers} callers (bare driver: ${what})`,
    value: Math.round(median(ours)),
    unit: '1/s',
    baseline: Math.round(median(base)),
    ratio: Number(median(ours.map((our, at) => our / (base[at] ?? our))).toPrecision(3)),
  })
  return [against('one row a commit', theirs), against('the same rows a commit', alike)]
}

async function sameOnSqlite(folder: string): Promise<BareWriter> {
  const database = openDatabase(join(folder, 'registry.sqlite'))
  const rows = await rowsOfLast(async (sql) => database.prepare(sql).all())
  database.close()
  return await barePublishesOnSqlite(join(folder, 'same.sqlite'), rows)
}

async function sameOnPostgres(url: string, same: string): Promise<BareWriter> {
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const rows = await rowsOfLast(async (sql) => (await pool.query(sql)).rows)
  await pool.end()
  return await barePublishesOnPostgres(same, callers, rows)
}

async function perSecond(first: number, count: number, write: Write): Promise<number> {
  const started = performance.now()
  await writeAll(first, count, callers, write)
  return count / ((performance.now() - started) / 1000)
}

/** Syncs at each commit, as the store does. */
function bareSqlite(folder: string): BareWriter {
  const database = openDatabase(join(folder, 'bare.sqlite'))
  database.exec('create table bare (id integer primary key, document text not null)')
  const insert = database.prepare('insert into bare values (?, ?)')
  return {
    async commit(number) {
      insert.run(number, JSON.stringify(publication(number)))
    },
    async [Symbol.asyncDispose]() {
      database.close()
    },
  }
}

async function barePostgres(url: string): Promise<BareWriter> {
  const pool = new pg.Pool({ connectionString: url, max: callers })
  await pool.query('create table bare (id bigint primary key, document text not null)')
  return {
    commit: (number) =>
      pool.query('insert into bare values ($1, $2)', [number, JSON.stringify(publication(number))]),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
