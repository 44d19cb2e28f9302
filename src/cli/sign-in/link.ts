import { randomBytes } from 'node:crypto'
import { Failure } from '../../../schemas/failure.ts'
import type { Config } from '../../app/config.ts'
import { findServer } from '../../app/running-server.ts'
import { createLoginLink } from '../../auth/authorization-server/login-link.ts'
import { print, say } from '../output.ts'
import { openOwnStore } from '../own-store.ts'

/**
 * Prints a link that signs a browser in, once, as the person at this machine, at the gateway that serves the data
 * folder. Whoever reads the link can use it, so it is printed on a terminal alone.
 */
export async function printLoginLink(config: Config, json: boolean): Promise<void> {
  if (!process.stdout.isTTY) {
    throw new Failure('invalid_request', 'The link is printed only on a terminal, so that no log holds it.', {
      hint: 'To sign in at another gateway, give its address: dragoman login https://registry.example',
    })
  }
  const server = await findServer(config)
  if (server === undefined) {
    throw new Failure('not_configured', `No gateway on this machine serves ${config.data}.`, {
      hint: 'Start it with dragoman serve. To sign in at another gateway, give its address.',
    })
  }
  await using store = await openOwnStore()
  const code = await createLoginLink(store.signIn, Date.now, randomBytes)
  const link = `${server}/sign-in/link?code=${code}`
  if (json) return print({ link })
  print(link)
  say(
    'The link signs one browser in as you, within ten minutes. On the command line you are the operator already.',
  )
}
