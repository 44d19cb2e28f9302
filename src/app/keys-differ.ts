import { z } from 'zod'
import { Failure } from '../../schemas/failure.ts'
import type { KeyRing, KeySummary } from '../auth/key-ring.ts'
import { parseJson } from '../common/json.ts'
import { repeat } from '../common/repeat.ts'
import type { Store } from '../store/store.ts'
import type { Runtime } from './runtime.ts'

/** Milliseconds between two looks whether another gateway has rotated the keys. */
const keyCheckMilliseconds = 60_000

/** The setting of the store that names the newest signing key of its gateways. */
const newestKey = 'newest_key'
const NewestKey = z.object({ kid: z.string(), signs_from: z.string() })

/** A key as that setting names it. */
function named({ kid, signs_from }: KeySummary): z.infer<typeof NewestKey> {
  return { kid, signs_from: signs_from ?? '' }
}

/**
 * The reason why the keys of this gateway do not match those of the registry; undefined if they match. Its first gateway
 * has stored the issuer: a gateway with another one refuses the tokens of the registry. The gateway with the newest key
 * stores its name: one that lacks it refuses the tokens that others sign.
 */
export async function keyMismatch(
  store: Pick<Store, 'settings' | 'identity'>,
  ring: Pick<KeyRing, 'name' | 'list'>,
  clock: () => number,
): Promise<string | undefined> {
  const issuer = await store.settings.settle('issuer', ring.name)
  if (issuer !== ring.name)
    return `The registry belongs to ${issuer}, and these keys to ${ring.name}: copy keys/ from the gateway that made it, or from a backup. If they are lost: dragoman keys replace.`
  const keys = (await ring.list()).map(named)
  const own = keys.reduce((newest, key) => (key.signs_from > newest.signs_from ? key : newest))
  const { data: stored } = NewestKey.safeParse(parseJson((await store.settings.get(newestKey)) ?? ''))
  if (stored && keys.some(({ kid }) => kid === stored.kid) && stored.signs_from >= own.signs_from)
    return undefined
  const isRevoked = async ({ kid }: { kid: string }) =>
    (await store.identity.revocations(clock())).some(({ kind, name }) => kind === 'kid' && name === kid)
  if (!stored || stored.signs_from < own.signs_from || (await isRevoked(stored))) {
    await store.settings.set(newestKey, JSON.stringify(own))
    return undefined
  }
  return `Another gateway has rotated the keys: these lack ${stored.kid}, which signs from ${stored.signs_from}. Copy keys/ from that gateway.`
}

/**
 * Makes these keys those of the registry, whose own are lost: tokens of the lost ones stay refused. Resolves to the key that
 * signs now. Throws Failure `conflict` if the keys are those of the registry.
 */
export async function replaceKeys(
  { settings }: Pick<Store, 'settings'>,
  ring: Pick<KeyRing, 'name' | 'list'>,
): Promise<KeySummary> {
  const issuer = await settings.get('issuer')
  const signing = (await ring.list()).find(({ state }) => state === 'signing')
  if (issuer === undefined || issuer === ring.name || !signing)
    throw new Failure('conflict', 'The keys of this data folder are those of the registry: none are lost.')
  await settings.set('issuer', ring.name)
  await settings.set(newestKey, JSON.stringify(named(signing)))
  return signing
}

/**
 * Compares the keys with those of the other gateways, now and every minute, for `/readyz`; the returned function does it
 * at once.
 */
export async function watchKeys(
  { stack, clock, health, log, onErrorOf }: Runtime,
  store: Store,
  ring: KeyRing,
): Promise<() => Promise<void>> {
  const onError = onErrorOf('identity')
  let mismatch: string | undefined
  async function checkKeys(): Promise<void> {
    const found = await keyMismatch(store, ring, clock)
    if (found === mismatch) return
    mismatch = found
    if (found === undefined) {
      health.delete('keys_differ')
      log.warn('the keys agree with those of the other gateways again')
    } else {
      health.add('keys_differ')
      onError(new Error(found))
    }
  }
  await checkKeys()
  const closing = new AbortController()
  const checking = repeat(keyCheckMilliseconds, closing.signal, () => checkKeys().catch(onError))
  stack.defer(async () => {
    closing.abort()
    await checking
  })
  return checkKeys
}
