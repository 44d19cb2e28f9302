import { readUserFolders } from '../../app/config.ts'
import { changeSignedIn, readSignedIn, type SignedInSession, signedInPath } from '../../app/signed-in.ts'

/** A token that has less left may end during a call, in milliseconds. */
const leastLeft = 60_000

/**
 * The access token of this user for a gateway, renewed where needed; undefined if the user is not signed in there.
 * Throws Failure `unauthenticated` if the sign-in has ended.
 */
export async function accessToken(gateway: string): Promise<string | undefined> {
  const path = signedInPath(readUserFolders())
  const session = readSignedIn(path).gateways[gateway]
  if (session === undefined || isFresh(session)) return session?.access_token
  return await changeSignedIn(path, async (signedIn) => {
    const stored = signedIn.gateways[gateway]
    // Another command may have signed out or renewed it in the meantime.
    if (stored === undefined || isFresh(stored)) return [signedIn, stored?.access_token]
    const { refresh } = await import('./device.ts')
    const renewed = await refresh(stored)
    const gateways = { ...signedIn.gateways, [gateway]: renewed }
    return [{ ...signedIn, gateways }, renewed.access_token]
  })
}

function isFresh({ expires_at }: SignedInSession): boolean {
  return expires_at - Date.now() > leastLeft
}
