import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { EntryDetail } from '../../schemas/card.ts'
import { readUserPrograms } from '../app/config.ts'
import { gatewayAddress, publicAddress } from './address.ts'
import { print, say } from './output.ts'
import { askRegistry } from './send.ts'

const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Prints the address of an agent's page, or of the gateway, and opens it in the browser if this is a terminal. */
export async function open(
  agent: string | undefined,
  { print: printOnly = false }: { print?: boolean },
  json: boolean,
): Promise<void> {
  const address =
    agent === undefined
      ? await gatewayAddress()
      : await publicAddress((await askRegistry<EntryDetail>('get_agent', { agent })).package_name)
  print(json ? { url: address } : address)
  if (printOnly || json || !process.stdout.isTTY) return
  await openInBrowser(address)
}

/** Starts the user's browser; says so if it cannot. */
export async function openInBrowser(address: string): Promise<void> {
  const { browser } = readUserPrograms()
  const [program = 'xdg-open', ...args] =
    browser === undefined ? (openers[process.platform] ?? []) : [browser]
  const opening = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  const started = await once(opening, 'spawn').then(
    () => true,
    () => false,
  )
  opening.unref()
  if (!started) say(`No browser could be started (${program}). BROWSER names another program.`)
}
