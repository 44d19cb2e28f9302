import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder into which `.ci/run` installs third-party clients. */
const folder = process.env.DRAGOMAN_TEST_CLIENTS

/** The path of such a client, or undefined if it is not installed; its tests are then skipped. */
export function installed(name: string): string | undefined {
  if (folder === undefined) return undefined
  const path = join(folder, name)
  return existsSync(path) ? path : undefined
}
