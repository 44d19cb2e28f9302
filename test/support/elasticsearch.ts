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

/** An Elasticsearch server of one node, without security. */
export interface TestElasticsearch extends AsyncDisposable {
  /** `http://HOST:PORT` */
  readonly origin: string
}

/** The unpacked distribution, or the origin of a running server; undefined without one. */
export const elasticsearch = process.env.DRAGOMAN_TEST_ELASTICSEARCH

if (!elasticsearch)
  console.error('DRAGOMAN_TEST_ELASTICSEARCH names no Elasticsearch: its tests are skipped.')

const memory = '/dev/shm'
const settings = `
discovery.type: single-node
xpack.security.enabled: false
action.destructive_requires_name: false
cluster.routing.allocation.disk.threshold_enabled: false
network.host: 127.0.0.1
`

/** Starts the server in a temporary folder, which is removed when it is disposed. Elasticsearch refuses to run as root. */
export async function startElasticsearch(): Promise<TestElasticsearch> {
  if (elasticsearch?.startsWith('http')) return { origin: elasticsearch, async [Symbol.asyncDispose]() {} }
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const home = join(folder.path, 'elasticsearch')
  await cp(elasticsearch ?? '', home, { recursive: true })
  const [http, transport] = [await freePort(), await freePort()]
  // Tests make many indexes: on a disk, each waits for several writes.
  const data = existsSync(memory)
    ? mkdtempSync(`${memory}/dragoman-elasticsearch-`)
    : join(folder.path, 'data')
  stack.defer(() => rm(data, { recursive: true, force: true }))
  const places = `http.port: ${http}\ntransport.port: ${transport}\npath.data: ${data}\n`
  await writeFile(join(home, 'config', 'elasticsearch.yml'), settings + places)
  if (unprivileged) {
    await own(folder.path, unprivileged)
    await chown(data, unprivileged.uid, unprivileged.gid)
  }
  const server = spawn('bash', ['bin/elasticsearch'], {
    ...unprivileged,
    cwd: home,
    env: {
      PATH: process.env.PATH,
      ES_JAVA_HOME: dirname(
        dirname(await realpath(execFileSync('which', ['java'], { encoding: 'utf8' }).trim())),
      ),
      ES_JAVA_OPTS: '-Xms512m -Xmx512m',
      TMPDIR: folder.path,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stack.defer(() => stop(server))
  await started(server)
  const running = stack.move()
  return { origin: `http://127.0.0.1:${http}`, [Symbol.asyncDispose]: () => running.disposeAsync() }
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
    if (!/\bstarted\b.*\{/.test(line)) continue
    server.stdout?.resume()
    return
  }
  throw new Error(`Elasticsearch did not start:\n${lines.slice(-30).join('\n')}`)
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}
