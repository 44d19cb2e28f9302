import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'

/** A key pair of the local issuer; `kid` is its RFC 7638 thumbprint. */
export interface SigningKey {
  readonly kid: string
  /** Both parts, for a library that signs by itself. */
  readonly jwk: JWK
  readonly private_key: CryptoKey
  readonly public_key: CryptoKey
}

/** A new Ed25519 key, with its private part. */
export async function generateJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  return await exportJWK(privateKey)
}

/** The key pair in a private Ed25519 JWK. Throws for any other key. */
export async function importKey(jwk: JWK): Promise<SigningKey> {
  const { kty, crv, x } = jwk
  if (kty !== 'OKP' || crv !== 'Ed25519' || !x) throw new Error('The JWK does not hold an Ed25519 key.')
  return {
    kid: await calculateJwkThumbprint(jwk),
    jwk,
    private_key: (await importJWK(jwk, 'EdDSA')) as CryptoKey,
    public_key: (await importJWK({ kty, crv, x }, 'EdDSA')) as CryptoKey,
  }
}
