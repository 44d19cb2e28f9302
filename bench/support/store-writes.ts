import { join } from 'node:path'
import pg from 'pg'
import { localPrincipal } from '../../src/auth/authenticator.ts'
import { readConfig } from '../../src/config.ts'
import { openGateway } from '../../src/gateway.ts'
import { openDatabase } from '../../src/store/sqlite/open.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { temporaryFolder } from '../../test/support/command.ts'
import { median, type Row } from './measure.ts'

const callers = 6
const publishes = 300
const commits = 600
const rounds = 7

type Write = (number: number) => Promise<unknown>

/** Publishes a second by 6 callers at once, against the bare driver that commits one row a transaction for as many. */
export async function writes(name: string, database?: string): Promise<Row> {
  await using folder = await temporaryFolder()
  const config = readConfig({
    DRAGOMAN_DATA: folder.path,
    DRAGOMAN_LIVENESS: 'off',
    ...(database !== undefined && { DATABASE_URL: database }),
  })
  await using gateway = await openGateway(config, { log: createLogger('silent') })
  await gateway.ready
  await using bare = database === undefined ? bareSqlite(folder.path) : await barePostgres(database)
  const { signal } = new AbortController()
  const publish: Write = (number) =>
    gateway.dispatch(
      { to: 'svc.registry', action: 'publish', params: publication(number) },
      { principal: localPrincipal, signal },
    )

  let published = 0
  const rate = async (count: number, write: Write) => {
    const first = published
    published += count
    return await perSecond(first, count, write)
  }
  await rate(publishes, publish)
  await rate(commits, bare.commit)
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await rate(publishes, publish))
    theirs.push(await rate(commits, bare.commit))
  }
  const ratios = ours.map((one, at) => one / (theirs[at] ?? one))
  return {
    name: `${name}: publishes by ${callers} callers (bare driver: one row a commit)`,
    value: Math.round(median(ours)),
    unit: '1/s',
    baseline: Math.round(median(theirs)),
    ratio: Number(median(ratios).toPrecision(3)),
  }
}

function publication(number: number) {
  return {
    package_name: `com.bench.agent-${number}`,
    name: `Agent ${number}`,
    description: `Forecasts the weather of place ${number}, and tells whether umbrellas are needed there.`,
    capabilities: [{ name: 'forecast', description: 'The weather of tomorrow.' }],
    tags: ['weather'],
  }
}

async function perSecond(first: number, count: number, write: Write): Promise<number> {
  let next = first
  const work = async () => {
    while (next < first + count) {
      const number = next
      next += 1
      await write(number)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: callers }, work))
  return count / ((performance.now() - started) / 1000)
}

/** Synced at each commit, as the store is. */
function bareSqlite(folder: string): { commit: Write } & AsyncDisposable {
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

async function barePostgres(url: string): Promise<{ commit: Write } & AsyncDisposable> {
  const pool = new pg.Pool({ connectionString: url, max: callers })
  await pool.query('create table bare (id bigint primary key, document text not null)')
  return {
    commit: (number) =>
      pool.query('insert into bare values ($1, $2)', [number, JSON.stringify(publication(number))]),
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
