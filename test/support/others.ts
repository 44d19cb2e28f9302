import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where `.ci/run` installs the clients that other people wrote. */
const folder = process.env.DRAGOMAN_TEST_CLIENTS

/** The path of such a client, or undefined where it is not installed: its tests are skipped then. */
export function installed(name: string): string | undefined {
  if (folder === undefined) return undefined
  const path = join(folder, name)
  return existsSync(path) ? path : undefined
}
