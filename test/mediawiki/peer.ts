import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'

const root = '/usr/share/mediawiki'

/** True if Debian's packages of MediaWiki and PHP are installed. */
export function isInstalled(): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return (
    existsSync(`${root}/maintenance/install.php`) && folders.some((folder) => existsSync(join(folder, 'php')))
  )
}

interface Peer extends AsyncDisposable {
  /** URL of its `api.php`. */
  readonly api: string
}

/** Content of a wiki: titles with their wikitext, names of files with their bytes. */
export interface Content {
  readonly pages: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, Uint8Array>>
}

/** A real MediaWiki on SQLite in a temporary folder, with this content, on a loopback port. */
export async function startMediaWiki({ pages, files }: Content): Promise<Peer> {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-mediawiki-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const server = `http://127.0.0.1:${await freePort()}`
  await install(folder, server)
  const env = { ...process.env, MW_CONFIG_FILE: join(folder, 'LocalSettings.php') }
  const maintain = (script: string, ...options: string[]) =>
    promisify(execFile)('php', [`${root}/maintenance/${script}.php`, ...options], { env })
  await maintain('importImages', '--extensions', 'png', await written(folder, 'files', files))
  const texts = Object.entries(pages).map(([title, text]) => [`${title}.txt`, text] as const)
  const textFolder = await written(folder, 'pages', Object.fromEntries(texts))
  await maintain('importTextFiles', '--user', 'Admin', ...texts.map(([name]) => join(textFolder, name)))
  await maintain('runJobs')
  await maintain('rebuildtextindex')
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
  await appendFile(join(folder, 'LocalSettings.php'), settings(folder))
}

/** A licence to state, and a folder for pictures; MediaWiki scales none, since none is wide. */
function settings(folder: string): string {
  return `
$wgRightsUrl = '//license.example/by-sa/4.0/';
$wgRightsText = 'Example Licence 4.0';
$wgEnableUploads = true;
$wgUploadDirectory = '${folder}/images';
`
}

async function written(
  parent: string,
  name: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = join(parent, name)
  await mkdir(folder)
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content)
  return folder
}

async function listening({ stderr }: ChildProcess): Promise<void> {
  let output = ''
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    output += chunk
    if (output.includes('Development Server')) return void stderr?.resume()
  }
  throw new Error(`php did not start: ${output}`)
}

async function stop(php: ChildProcess): Promise<void> {
  if (php.exitCode !== null || php.signalCode !== null) return
  const gone = once(php, 'exit')
  php.kill('SIGKILL')
  await gone
}
