import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { makePrivateFolder, privateFile } from '../common/private-file.ts'
import type { UserFolders } from './user-folders.ts'

/** What a gateway gave this user at a sign-in. Times are milliseconds since the epoch. */
const Session = z.object({
  issuer: z.string(),
  resource: z.string(),
  access_token: z.string(),
  expires_at: z.number(),
  refresh_token: z.string().optional(),
})
export type Session = z.output<typeof Session>

const SignedIn = z.object({
  /** The gateway that commands talk to. */
  current: z.string().nullable(),
  gateways: z.record(z.string(), Session),
})
type SignedIn = z.output<typeof SignedIn>

const nobody: SignedIn = { current: null, gateways: {} }

/** The file of the sign-ins of this user. */
export function signedInPath({ config }: Pick<UserFolders, 'config'>): string {
  return join(config, 'dragoman', 'credentials.json')
}

/** The sign-ins of this user. Throws Failure `invalid_request` if the file is damaged. */
export function readSignedIn(path: string): SignedIn {
  try {
    return SignedIn.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return nobody
    throw new Failure('invalid_request', `${path} holds no sign-ins that can be read.`, {
      hint: 'Delete it, and sign in again: dragoman login.',
    })
  }
}

/**
 * Changes the sign-ins, alone among the processes of this user: a refresh token is valid once. The file is replaced as a
 * whole.
 */
export async function changeSignedIn<T>(
  path: string,
  change: (signedIn: SignedIn) => Promise<readonly [SignedIn, T]>,
): Promise<T> {
  makePrivateFolder(dirname(path))
  const lock = `${path}.lock`
  const mark = randomUUID()
  await take(lock, mark)
  try {
    const [changed, result] = await change(readSignedIn(path))
    const draft = `${path}.${mark}`
    await writeFile(draft, `${JSON.stringify(changed, null, 2)}\n`, { mode: privateFile })
    await rename(draft, path)
    return result
  } finally {
    if ((await readFile(lock, 'utf8').catch(() => '')) === mark) await rm(lock, { force: true })
  }
}

/** Longer than the requests of a refresh may take; the process that held an older lock has ended. */
const staleMilliseconds = 90_000
const pauseMilliseconds = 50

async function take(lock: string, mark: string): Promise<void> {
  const until = Date.now() + staleMilliseconds
  while (true) {
    try {
      await writeFile(lock, mark, { flag: 'wx', mode: privateFile })
      return
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault
    }
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > staleMilliseconds) await rm(lock, { force: true })
    else if (Date.now() > until)
      throw new Failure('unavailable', `Another command holds ${lock}. Try again later.`)
    else await wait(pauseMilliseconds)
  }
}
