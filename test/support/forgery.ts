import { createHmac } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { mintToken } from '../../src/auth/issuer.ts'
import type { SigningKey } from '../../src/auth/key.ts'

export interface Forgery {
  readonly name: string
  readonly token: string
}

type Claims = Record<string, unknown>

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Every token of the attack table, none of which may be taken; `now` in milliseconds since the epoch. */
export async function forgeries(key: SigningKey, issuer: string, now: number): Promise<Forgery[]> {
  const seconds = Math.floor(now / 1000)
  const sound = {
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
  /** Ours in all but what changes; an undefined claim is left out. */
  const ours = (changes: Claims, headerChanges: Claims = {}) =>
    signed({ ...sound, ...changes }, headerChanges)
  const without = (...names: string[]) =>
    signed(Object.fromEntries(Object.entries(sound).filter(([name]) => !names.includes(name))))
  const unsigned = (alg: string) => `${encode({ ...header, alg })}.${encode(sound)}.`
  const hmac = (secret: string | Buffer) => {
    const text = `${encode({ ...header, alg: 'HS256' })}.${encode(sound)}`
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
    "somebody else's key under our kid": signed(sound, {}, foreign.privateKey),
    "somebody else's key, embedded": signed(sound, { jwk }, foreign.privateKey),
    "somebody else's key, embedded, without kid": signed(sound, { jwk, kid: undefined }, foreign.privateKey),
    "somebody else's key at a jku": signed(sound, { jku: 'https://evil.example/jwks' }, foreign.privateKey),
    "somebody else's key in x5c": signed(sound, { x5c: ['AAAA'] }, foreign.privateKey),
    'a kid that is a path': ours({}, { kid: '../../dev/null' }),
    'a kid that is SQL': ours({}, { kid: "' or '1'='1" }),
    'an empty kid': ours({}, { kid: '' }),
    'no kid': ours({}, { kid: undefined }),
    'an unknown critical header': signedRaw(sound, { crit: ['x'], x: 1 }),
    'an unencoded payload': signedRaw(sound, { crit: ['b64'], b64: false }),
    'a kid that is a number': signedRaw(sound, { kid: 5 }),
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
    'exp as text': signedRaw({ ...sound, exp: String(seconds + 600) }),
    'exp as null': signedRaw({ ...sound, exp: null }),
    'exp without end': signedRaw(JSON.stringify(sound).replace(/"exp":\d+/, '"exp":1e999')),
    'iat without end': signedRaw(JSON.stringify({ ...sound, iat: 0 }).replace(/"iat":0/, '"iat":1e999')),
    'nbf in an hour': ours({ nbf: seconds + 3600 }),
    'nbf as text': signedRaw({ ...sound, nbf: '0' }),
    'no sub': without('sub'),
    'an empty sub': ours({ sub: '' }),
    'a sub that is a number': signedRaw({ ...sound, sub: 5 }),
    'a sub without end': ours({ sub: 'x'.repeat(201) }),
    'no jti': without('jti'),
    'a scope that is a list': signedRaw({ ...sound, scope: ['admin'] }),
    'namespaces that are text': signedRaw({ ...sound, ns: 'com' }),
    'a tampered payload': `${head}.${encode({ ...sound, sub: 'root' })}.${signature}`,
    'a tampered header': `${encode({ ...header, x: 1 })}.${body}.${signature}`,
    'a signature of zeros': `${head}.${body}.${encode('\0'.repeat(64))}`,
    'no signature': `${head}.${body}.`,
    'half a signature': `${head}.${body}.${signature.slice(0, 40)}`,
    'another token’s signature': `${head}.${body}.${(await ours({ sub: 'ada' })).split('.')[2]}`,
    'two parts': `${head}.${body}`,
    'four parts': `${good}.${signature}`,
    'five parts': `${head}.${body}.${signature}.${head}.${body}`,
    'a payload that is a list': signedRaw([sound]),
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

  /** Signs what SignJWT would not. */
  async function signedRaw(payload: unknown, changes: Claims = {}): Promise<string> {
    const text = `${encode({ ...header, ...changes })}.${encode(payload)}`
    const mark = await crypto.subtle.sign('Ed25519', key.private_key, Buffer.from(text))
    return `${text}.${Buffer.from(mark).toString('base64url')}`
  }
  return Promise.all(Object.entries(table).map(async ([name, token]) => ({ name, token: await token })))
}

/** The other spellings of a sound token: an Ed25519 signature leaves four bits of its last character unused. */
export async function spellings(key: SigningKey, issuer: string, clock: () => number): Promise<string[]> {
  const grant = { subject: 'ada', scopes: ['agents:read'], namespaces: ['com.ada'], ttl_s: 600 } as const
  const token = await mintToken(key, issuer, grant, clock)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(token.slice(-1))
  return Array.from({ length: 16 }, (_, low) => token.slice(0, -1) + alphabet[(last & 0b110000) | low])
}
