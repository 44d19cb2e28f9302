import { existsSync } from 'node:fs'
import { Failure } from '../../schemas/failure.ts'
import { readSecretKey, type Vault } from '../auth/vault.ts'
import type { Store } from '../store/store.ts'
import { type Config, keysPath, secretPath } from './config.ts'
import type { Runtime } from './runtime.ts'

/** The setting of the store that says that a secret key encrypts what it holds. */
const hasSecretKey = 'has_secret_key'

/**
 * The setting of the store that only its secret key opens; after a start with another key, also one that only that key
 * opens, behind a space.
 */
const keyProof = 'secret_key'

/**
 * The configured secret key, or the one in the data folder, which is made once. Throws Failure `not_configured` if it is
 * lost: a new one could read nothing that the store holds.
 */
export async function secretKey(config: Config, settings: Store['settings']): Promise<Uint8Array> {
  const path = secretPath(config)
  const isUsed = (await settings.get(hasSecretKey)) !== undefined
  // The file is made before the signing keys: if those are here and it is not, it was here.
  const isLost = isUsed && existsSync(keysPath(config)) && !existsSync(path)
  if (isLost && !config.DRAGOMAN_SECRET_KEY) throw lostSecretKey(path)
  const key = config.DRAGOMAN_SECRET_KEY
    ? Buffer.from(config.DRAGOMAN_SECRET_KEY, 'base64url')
    : await readSecretKey(path)
  if (!isUsed) await settings.settle(hasSecretKey, 'true')
  return key
}

function lostSecretKey(path: string): Failure {
  const message = `${path} is missing: it decrypts the credentials, the sign-ins and the secrets of webhooks in this registry.`
  return new Failure('not_configured', message, {
    hint: `Restore it from a backup, or set DRAGOMAN_SECRET_KEY. If it is lost, make a new one: openssl rand -base64 32 > ${path}. Callers must then store their credentials again, and people must sign in again.`,
  })
}

/** The reason why the secret key is not that of the registry; undefined if it is, or if no gateway has served yet. */
export async function secretKeyMismatch(
  config: Pick<Config, 'data' | 'DRAGOMAN_SECRET_KEY'>,
  settings: Pick<Store['settings'], 'get'>,
  vault: Vault,
): Promise<string | undefined> {
  const [proof] = (await settings.get(keyProof))?.split(' ') ?? []
  if (proof === undefined || isOpenedBy(vault, proof)) return undefined
  const place = config.DRAGOMAN_SECRET_KEY ? 'DRAGOMAN_SECRET_KEY' : secretPath(config)
  return `${place} is not the key that encrypted the credentials, the sign-ins and the secrets of webhooks in this registry, so they cannot be read.`
}

/**
 * Reports a secret key that is not that of the registry, in the log and to `/readyz`. The second start with the same
 * other key makes it that of the registry: the earlier one is lost then.
 */
export async function checkSecretKey(
  { config, health, log, onErrorOf }: Pick<Runtime, 'config' | 'health' | 'log' | 'onErrorOf'>,
  settings: Store['settings'],
  vault: Vault,
): Promise<void> {
  const own = vault.seal('', keyProof)
  const stored = (await settings.get(keyProof)) ?? (await settings.settle(keyProof, own))
  const [proof = own, next] = stored.split(' ')
  if (isOpenedBy(vault, proof)) {
    if (next !== undefined) await settings.set(keyProof, proof)
    return
  }
  if (next !== undefined && isOpenedBy(vault, next)) {
    log.warn('the secret key of the last start is that of the registry from now on')
    return await settings.set(keyProof, next)
  }
  const mismatch = await secretKeyMismatch(config, settings, vault)
  health.add('secret_key_differs')
  onErrorOf('identity')(new Error(mismatch))
  await settings.set(keyProof, `${proof} ${own}`)
}

function isOpenedBy(vault: Vault, proof: string): boolean {
  return vault.open(proof, keyProof) !== undefined
}
