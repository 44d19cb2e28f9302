import { createHmac } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { mintToken } from '../../src/auth/issuer.ts'
import type { SigningKey } from '../../src/auth/key.ts'

interface Forgery {
  readonly name: string
  readonly token: string
}

type Claims = Record<string, unknown>

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Every token of the attack table, none of which may be accepted; `now` in milliseconds since the epoch. */
export async function forgeries(key: SigningKey, issuer: string, now: number): Promise<Forgery[]> {
  const seconds = Math.floor(now / 1000)
  const valid = {
    iss: issuer,
    aud: issuer,
    sub: 'eve',
    jti: '1',
    exp: seconds + 600,
    scope: 'admin',
    ns: ['com'],
  }
  const header = { alg: 'EdDSA', typ: 'at+jwt', kid: key.kid }
  const foreign = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })

  const signed = (claims: Claims, changes: Claims = {}, by = key.private_key) =>
    new SignJWT(claims).setProtectedHeader({ ...header, ...changes }).sign(by)
  /** A valid token except for the changes; an undefined claim is left out. */
  const ours = (changes: Claims, headerChanges: Claims = {}) =>
    signed({ ...valid, ...changes }, headerChanges)
  const without = (...names: string[]) =>
    signed(Object.fromEntries(Object.entries(valid).filter(([name]) => !names.includes(name))))
  const unsigned = (alg: string) => `${encode({ ...header, alg })}.${encode(valid)}.`
  const hmac = (secret: string | Buffer) => {
    const text = `${encode({ ...header, alg: 'HS256' })}.${encode(valid)}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const good = await ours({})
  const [head = '', body = '', signature = ''] = good.split('.')
  const jwk = await exportJWK(foreign.publicKey)
  const publicJwk = await exportJWK(key.public_key)

  const table: Record<string, string | Promise<string>> = {
    'alg none': unsigned('none'),
    'alg nOnE': unsigned('nOnE'),
    'alg none with a signature': `${encode({ ...header, alg: 'none' })}.${body}.${signature}`,
    'no alg': `${encode({ typ: 'at+jwt', kid: key.kid })}.${body}.${signature}`,
    'HS256 with the public key as PEM': hmac(await exportSPKI(key.public_key)),
    'HS256 with the public key as JWK': hmac(JSON.stringify(publicJwk)),
    'HS256 with the public bytes': hmac(Buffer.from(publicJwk.x ?? '', 'base64url')),
    "somebody else's key under our kid": signed(valid, {}, foreign.privateKey),
    "somebody else's key, embedded": signed(valid, { jwk }, foreign.privateKey),
    "somebody else's key, embedded, without kid": signed(valid, { jwk, kid: undefined }, foreign.privateKey),
    "somebody else's key at a jku": signed(valid, { jku: 'https://evil.example/jwks' }, foreign.privateKey),
    "somebody else's key in x5c": signed(valid, { x5c: ['AAAA'] }, foreign.privateKey),
    'a kid that is a path': ours({}, { kid: '../../dev/null' }),
    'a kid that is SQL': ours({}, { kid: "' or '1'='1" }),
    'an empty kid': ours({}, { kid: '' }),
    'no kid': ours({}, { kid: undefined }),
    'an unknown critical header': signedRaw(valid, { crit: ['x'], x: 1 }),
    'an unencoded payload': signedRaw(valid, { crit: ['b64'], b64: false }),
    'a kid that is a number': signedRaw(valid, { kid: 5 }),
    'typ JWT': ours({}, { typ: 'JWT' }),
    'no typ': ours({}, { typ: undefined }),
    'another audience': ours({ aud: 'urn:else' }),
    'no audience': without('aud'),
    'an audience that only begins alike': ours({ aud: `${issuer}.evil` }),
    'another issuer': ours({ iss: 'urn:else' }),
    'issuers in a list': ours({ iss: [issuer] }),
    'no issuer': without('iss'),
    'expired long ago': ours({ exp: seconds - 3600 }),
    'expired six seconds ago': ours({ exp: seconds - 6 }),
    'no exp': without('exp'),
    'exp as text': signedRaw({ ...valid, exp: String(seconds + 600) }),
    'exp as null': signedRaw({ ...valid, exp: null }),
    'exp without end': signedRaw(JSON.stringify(valid).replace(/"exp":\d+/, '"exp":1e999')),
    'iat without end': signedRaw(JSON.stringify({ ...valid, iat: 0 }).replace(/"iat":0/, '"iat":1e999')),
    'nbf in an hour': ours({ nbf: seconds + 3600 }),
    'nbf as text': signedRaw({ ...valid, nbf: '0' }),
    'no sub': without('sub'),
    'an empty sub': ours({ sub: '' }),
    'a sub that is a number': signedRaw({ ...valid, sub: 5 }),
    'a sub without end': ours({ sub: 'x'.repeat(201) }),
    'no jti': without('jti'),
    'a scope that is a list': signedRaw({ ...valid, scope: ['admin'] }),
    'namespaces that are text': signedRaw({ ...valid, ns: 'com' }),
    'a tampered payload': `${head}.${encode({ ...valid, sub: 'root' })}.${signature}`,
    'a tampered header': `${encode({ ...header, x: 1 })}.${body}.${signature}`,
    'a signature of zeros': `${head}.${body}.${encode('\0'.repeat(64))}`,
    'no signature': `${head}.${body}.`,
    'half a signature': `${head}.${body}.${signature.slice(0, 40)}`,
    'another token’s signature': `${head}.${body}.${(await ours({ sub: 'ada' })).split('.')[2]}`,
    'two parts': `${head}.${body}`,
    'four parts': `${good}.${signature}`,
    'five parts': `${head}.${body}.${signature}.${head}.${body}`,
    'a payload that is a list': signedRaw([valid]),
    'a payload that is text': signedRaw('admin'),
    'a payload that is not JSON': signedRaw('{'),
    'an empty payload': signedRaw(''),
    nothing: '',
    dots: '..',
    'one part': 'garbage',
    'a megabyte': 'a'.repeat(1024 * 1024),
    'a megabyte in three parts': `${head}.${'a'.repeat(1024 * 1024)}.${signature}`,
    'a sound token of nine thousand characters': ours({ padding: 'x'.repeat(9000) }),
    'spaces around': ` ${good} `,
    'a newline inside': `${head}.${body}\n.${signature}`,
    'the whole as JSON': JSON.stringify({ token: good }),
  }

  /** Signs a payload that SignJWT would refuse. */
  async function signedRaw(payload: unknown, changes: Claims = {}): Promise<string> {
    const text = `${encode({ ...header, ...changes })}.${encode(payload)}`
    const signatureBytes = await crypto.subtle.sign('Ed25519', key.private_key, Buffer.from(text))
    return `${text}.${Buffer.from(signatureBytes).toString('base64url')}`
  }
  return Promise.all(Object.entries(table).map(async ([name, token]) => ({ name, token: await token })))
}

/** Other encodings of a valid token: an Ed25519 signature leaves four bits of its last character unused. */
export async function spellings(key: SigningKey, issuer: string, clock: () => number): Promise<string[]> {
  const grant = {
    subject: 'ada',
    scopes: ['agents:read'],
    namespaces: ['com.ada'],
    audience: [issuer],
    ttl_s: 600,
  } as const
  const token = await mintToken(key, issuer, grant, clock)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(token.slice(-1))
  return Array.from({ length: 16 }, (_, low) => token.slice(0, -1) + alphabet[(last & 0b110000) | low])
}
