import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:process'
import { text } from 'node:stream/consumers'
import { Failure } from '../../schemas/failure.ts'
import { nearest } from '../../schemas/nearest.ts'
import { readConfig } from '../app/config.ts'
import { type Extra, extras, extrasFolder, packagesOf, placeOf } from '../app/extras.ts'
import { makePrivateFolder } from '../common/private-file.ts'
import { bold, print, printTable, say } from './output.ts'
import { showWaiting } from './progress.ts'

/** Installs an optional part by npm, from the registry that npm is set to. */
export async function addExtra(name: string, json: boolean): Promise<void> {
  const extra = extraOf(name)
  const folder = extrasFolder(readConfig())
  makePrivateFolder(folder)
  const packages = packagesOf(extra)
  {
    using _waiting = showWaiting()
    await install(folder, packages)
  }
  const place = placeOf(extra, folder)
  if (json) print({ name: extra, installed: place ?? null })
  else say(`Installed in ${folder}. A gateway that runs uses it after its next start.`)
}

export async function listExtras(json: boolean): Promise<void> {
  const folder = extrasFolder(readConfig())
  const all = (Object.keys(extras) as Extra[]).map((name) => ({
    name,
    packages: packagesOf(name),
    installed: placeOf(name, folder) ?? null,
  }))
  if (json) return print({ extras: all })
  await printTable(
    [
      { title: 'EXTRA', style: bold },
      { title: 'INSTALLED', elastic: true },
    ],
    all.map(({ name, installed }) => [name, installed ?? 'not installed']),
  )
}

function extraOf(name: string): Extra {
  if (name in extras) return name as Extra
  const names = Object.keys(extras)
  throw new Failure('invalid_request', `There is no extra ${name}.`, {
    hint: `There are ${names.join(', ')}.`,
    nearest: nearest(name, names),
  })
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  // What the scripts of these packages do, such as downloading libraries for GPUs, no embedder here needs.
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const args = ['install', '--prefix', folder, ...options, ...packages]
  const child = spawn('npm', args, { stdio: ['ignore', 'ignore', 'pipe'], shell: platform === 'win32' })
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]).catch((fault) => {
    throw new Failure(
      'not_configured',
      'npm cannot be started.',
      { hint: 'Install npm, which comes with Node.' },
      fault,
    )
  })
  if (code === 0) return
  throw new Failure('upstream_failed', `npm could not install it: ${errors.trim().slice(-1000)}`, {
    hint: `The same by hand: npm ${args.join(' ')}`,
  })
}
