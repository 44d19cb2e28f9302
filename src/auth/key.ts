import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { isRecord } from '../../schemas/json.ts'

/** The local issuer's key pair; `kid` is its RFC 7638 thumbprint. */
export interface SigningKey {
  readonly kid: string
  readonly private_key: CryptoKey
  readonly public_key: CryptoKey
}

/** Reads the Ed25519 key at `path`, making it (mode 600, folder 700) at the first start. No default, ever. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await createOnce(path)
  const jwk: JWK = JSON.parse(await readFile(path, 'utf8'))
  const { kty, crv, x } = jwk
  if (kty !== 'OKP' || crv !== 'Ed25519' || !x) throw new Error(`${path} does not hold an Ed25519 key.`)
  return {
    kid: await calculateJwkThumbprint(jwk),
    private_key: (await importJWK(jwk, 'EdDSA')) as CryptoKey,
    public_key: (await importJWK({ kty, crv, x }, 'EdDSA')) as CryptoKey,
  }
}

/** Several processes may start at once: the whole file gets its name in one step, and the first one wins. */
async function createOnce(path: string): Promise<void> {
  if (existsSync(path)) return
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, JSON.stringify(await exportJWK(privateKey)), { flag: 'wx', mode: 0o600 })
  try {
    await link(draft, path)
  } catch (fault) {
    if (!isRecord(fault) || fault.code !== 'EEXIST') throw fault
  } finally {
    await unlink(draft)
  }
}
