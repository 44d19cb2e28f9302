import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const root = '/usr/share/mediawiki'

/** True where Debian's packages of MediaWiki and PHP are installed. */
export function isInstalled(): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return (
    existsSync(`${root}/maintenance/install.php`) && folders.some((folder) => existsSync(join(folder, 'php')))
  )
}

export interface Peer extends AsyncDisposable {
  /** Address of its `api.php`. */
  readonly api: string
}

/** A real MediaWiki on SQLite in a temporary folder, with these pages (title to wikitext), on a loopback port. */
export async function startMediaWiki(pages: Readonly<Record<string, string>>): Promise<Peer> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-mediawiki-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const server = `http://127.0.0.1:${await freePort()}`
  await install(folder, server)
  const env = { ...process.env, MW_CONFIG_FILE: join(folder, 'LocalSettings.php') }
  for (const [title, wikitext] of Object.entries(pages)) await edit(title, wikitext, env)
  await promisify(execFile)('php', [`${root}/maintenance/runJobs.php`], { env })
  await promisify(execFile)('php', [`${root}/maintenance/rebuildtextindex.php`], { env })
  const router = join(import.meta.dirname, 'router.php')
  const php = spawn('php', ['-S', new URL(server).host, '-t', root, router], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  stack.defer(() => stop(php))
  await listening(php)
  const owned = stack.move()
  return { api: `${server}/api.php`, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function install(folder: string, server: string): Promise<void> {
  const options = ['--dbtype', 'sqlite', '--dbpath', folder, '--dbname', 'testwiki', '--confpath', folder]
  const site = ['--server', server, '--scriptpath', '', '--lang', 'en', '--with-extensions']
  const password = ['--pass', 'for-a-test-alone']
  const script = `${root}/maintenance/install.php`
  await promisify(execFile)('php', [script, ...options, ...site, ...password, 'TestWiki', 'Admin'])
}

async function edit(title: string, wikitext: string, env: NodeJS.ProcessEnv): Promise<void> {
  const running = promisify(execFile)('php', [`${root}/maintenance/edit.php`, '-u', 'Admin', title], { env })
  running.child.stdin?.end(wikitext)
  await running
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function listening({ stderr }: ChildProcess): Promise<void> {
  let said = ''
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    said += chunk
    if (said.includes('Development Server')) return void stderr?.resume()
  }
  throw new Error(`php did not start: ${said}`)
}

async function stop(php: ChildProcess): Promise<void> {
  if (php.exitCode !== null || php.signalCode !== null) return
  const gone = once(php, 'exit')
  php.kill('SIGKILL')
  await gone
}
