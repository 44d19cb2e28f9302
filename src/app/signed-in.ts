import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import { makePrivateFolder, privateFile } from '../common/private-file.ts'
import { takeLock } from './lock.ts'
import type { UserFolders } from './user-folders.ts'

/** What a gateway gave this user at a sign-in. Times are milliseconds since the epoch. */
const SignedInSession = z.object({
  issuer: z.string(),
  resource: z.string(),
  access_token: z.string(),
  expires_at: z.number(),
  refresh_token: z.string().optional(),
})
export type SignedInSession = z.output<typeof SignedInSession>

const SignedIn = z.object({
  /** The gateway that commands talk to. */
  current: z.string().nullable(),
  gateways: z.record(z.string(), SignedInSession),
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
  using _lock = await takeLock(path, maxWait_ms)
  const [changed, result] = await change(readSignedIn(path))
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, `${JSON.stringify(changed, null, 2)}\n`, { mode: privateFile })
  await rename(draft, path)
  return result
}

/** Longer than the requests of a refresh may take. */
const maxWait_ms = 90_000
