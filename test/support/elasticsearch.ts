import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync } from 'node:fs'
import { chown, cp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { temporaryFolder } from './command.ts'
import { freePort } from './free-port.ts'
import { postgresUser as unprivileged } from './postgres.ts'

/** A node of Elasticsearch or OpenSearch, without security. */
export interface TestElasticsearch extends AsyncDisposable {
  /** `http://HOST:PORT` */
  readonly origin: string
  /** `HOST:PORT`, at which other nodes join it. */
  readonly seed: string
  /** Ends the node without a word. */
  kill(): Promise<void>
}

/** The unpacked distribution, or the origin of a running server; undefined without one. */
export const elasticsearch = process.env.DRAGOMAN_TEST_ELASTICSEARCH

/** The unpacked distribution of OpenSearch; undefined without one. */
export const openSearch = process.env.DRAGOMAN_TEST_OPENSEARCH

if (!elasticsearch)
  console.error('DRAGOMAN_TEST_ELASTICSEARCH names no Elasticsearch: its tests are skipped.')

const memory = '/dev/shm'
/** Code that runs for minutes does not earn the second compiler's work. */
const options = '-Xms512m -Xmx512m -XX:TieredStopAtLevel=1'
const alone = 'discovery.type: single-node'
const settings = `
action.destructive_requires_name: false
cluster.routing.allocation.disk.threshold_enabled: false
network.host: 127.0.0.1
`

/** How a node finds the others: the first of several names itself, and the others have data only. */
export const firstNode = 'node.name: first\ncluster.initial_master_nodes: [first]'
export const furtherNode = (first: TestElasticsearch) =>
  `node.roles: [data]\ndiscovery.seed_hosts: ["${first.seed}"]`

/** Starts a node in a temporary folder, which is removed when it is disposed. Elasticsearch refuses to run as root. */
export async function startElasticsearch(
  discovery = alone,
  distribution = elasticsearch ?? '',
): Promise<TestElasticsearch> {
  if (distribution.startsWith('http') && discovery === alone)
    return { origin: distribution, seed: '', async kill() {}, async [Symbol.asyncDispose]() {} }
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const home = join(folder.path, 'elasticsearch')
  await cp(distribution, home, { recursive: true })
  const program = existsSync(join(home, 'bin', 'opensearch')) ? 'opensearch' : 'elasticsearch'
  const security = program === 'elasticsearch' ? 'xpack.security.enabled: false\n' : ''
  const [http, transport] = [await freePort(), await freePort()]
  // Tests make many indexes: on a disk, each waits for several writes.
  const data = existsSync(memory)
    ? mkdtempSync(`${memory}/dragoman-elasticsearch-`)
    : join(folder.path, 'data')
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const places = `http.port: ${http}\ntransport.port: ${transport}\npath.data: ${data}\n`
  await writeFile(join(home, 'config', `${program}.yml`), `${discovery}\n${settings}${security}${places}`)
  if (unprivileged) {
    await own(folder.path, unprivileged)
    await chown(data, unprivileged.uid, unprivileged.gid)
  }
  const java = dirname(dirname(await realpath(execFileSync('which', ['java'], { encoding: 'utf8' }).trim())))
  const server = spawn('bash', [`bin/${program}`], {
    ...unprivileged,
    cwd: home,
    env: {
      PATH: process.env.PATH,
      ES_JAVA_HOME: java,
      ES_JAVA_OPTS: options,
      OPENSEARCH_JAVA_HOME: java,
      OPENSEARCH_JAVA_OPTS: options,
      TMPDIR: folder.path,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stack.defer(() => stop(server))
  await started(server)
  const running = stack.move()
  return {
    origin: `http://127.0.0.1:${http}`,
    seed: `127.0.0.1:${transport}`,
    kill: () => stop(server, 'SIGKILL'),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function own(folder: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const paths = await readdir(folder, { recursive: true })
  await Promise.all(['', ...paths].map((path) => chown(join(folder, path), uid, gid)))
}

/** Resolves once the server answers requests. */
async function started(server: ChildProcess): Promise<void> {
  const lines: string[] = []
  for await (const line of createInterface({ input: server.stdout as Readable })) {
    lines.push(line)
    if (!/\] started( \{|$)/.test(line)) continue
    server.stdout?.resume()
    return
  }
  throw new Error(`Elasticsearch did not start:\n${lines.slice(-30).join('\n')}`)
}

async function stop(server: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill(signal)
  await ended
}
