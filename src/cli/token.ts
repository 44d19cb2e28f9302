import { Failure } from '../../schemas/failure.ts'
import { localPersonId, type NewApiKey, wholeKey } from '../../schemas/identity.ts'
import { isRecord } from '../../schemas/json.ts'
import { PackageName } from '../../schemas/names.ts'
import { Scope, scopes } from '../../schemas/scope.ts'
import { type Config, keysPath, readConfig } from '../app/config.ts'
import { localPrincipal, maxTokenLength } from '../auth/authenticator.ts'
import { issuerName, mintToken } from '../auth/issuer.ts'
import { openKeyRing } from '../auth/key-ring.ts'
import { ask, openClient } from './client.ts'
import { readSeconds } from './input.ts'
import { print, say } from './output.ts'

interface Options {
  readonly sub?: string
  readonly scope?: string[]
  readonly namespace?: string[]
  readonly ttl: string
}

const maxSubject = 200

/** Prints a token and nothing else: of the gateway that DRAGOMAN_URL names, or signed by the key in the data folder. */
export async function createToken(options: Options, json: boolean): Promise<void> {
  const config = readConfig()
  const { DRAGOMAN_URL: url } = config
  const token = url ? await tokenFrom(url, options, config) : await signToken(options, config)
  print(json ? { token } : token)
}

async function signToken(
  { sub = localPersonId.subject, scope, namespace = [], ttl }: Options,
  config: Config,
): Promise<string> {
  const ring = await openKeyRing(keysPath(config), Date.now)
  const grant = {
    subject: sub,
    scopes: readScopes(scope),
    namespaces: readNamespaces(namespace),
    ttl_s: readSeconds('--ttl', ttl),
    audience: [ring.name],
  }
  const issuer = issuerName(ring, config.DRAGOMAN_BASE_URL)
  const token = await mintToken(await ring.signing(), issuer, grant, Date.now)
  if (sub.length > maxSubject || token.length > maxTokenLength) {
    throw new Failure('invalid_request', 'The token would be too long for a gateway.', {
      hint: `A subject may have at most ${maxSubject} characters, a token ${maxTokenLength}: use fewer namespaces.`,
    })
  }
  return token
}

const minute_s = 60

/** A token of the operator for the next minute, for a gateway over this data folder. */
export async function operatorToken(config: Config): Promise<string> {
  const ring = await openKeyRing(keysPath(config), Date.now)
  const { subject, scopes } = localPrincipal
  const grant = { subject, scopes: [...scopes], namespaces: [], ttl_s: minute_s, audience: [ring.name] }
  return await mintToken(await ring.signing(), issuerName(ring, config.DRAGOMAN_BASE_URL), grant, Date.now)
}

/**
 * A credential from a running gateway, which knows only its own keys. It acts as the caller: an API key creates a token
 * of an hour, every other credential creates an API key.
 */
async function tokenFrom(url: string, options: Options, config: Config): Promise<string> {
  const { sub, scope, namespace, ttl } = options
  if (sub !== undefined) {
    throw new Failure('invalid_request', `${url} makes tokens only for their caller.`, {
      hint: 'Leave out --sub. To make a token for a subject, unset DRAGOMAN_URL on the machine of the gateway.',
    })
  }
  const key = wholeKey.test(config.DRAGOMAN_TOKEN ?? '') ? config.DRAGOMAN_TOKEN : undefined
  if (key !== undefined) return await exchange(url, key, scope)
  const params = {
    scopes: scope && readScopes(scope),
    namespaces: namespace && readNamespaces(namespace),
    ttl_s: readSeconds('--ttl', ttl),
  }
  await using client = await openClient(config)
  return (await ask<NewApiKey>(client, 'create_key', params)).key
}

/** Exchanges an API key for a short token at the token endpoint. */
async function exchange(url: string, key: string, scope: readonly string[] | undefined): Promise<string> {
  const [, id = ''] = wholeKey.exec(key) ?? []
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope && { scope: readScopes(scope).join(' ') }),
    }),
  }).catch((fault) => {
    throw new Failure('unavailable', `${url} does not answer.`, {}, fault)
  })
  const body: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && isRecord(body) && typeof body.access_token === 'string') return body.access_token
  const reason = isRecord(body) ? String(body.error_description ?? body.error) : `status ${answer.status}`
  throw new Failure('unauthenticated', `${url} refuses the API key: ${reason}`)
}

interface Revocation {
  readonly sub?: string
  readonly issuer?: string
  readonly reason?: string
}

/**
 * Revokes a token, given whole or by its id, or everything that was issued to a subject; running gateways refuse it
 * within two seconds.
 */
export async function revokeToken(
  token: string | undefined,
  options: Revocation,
  json: boolean,
): Promise<void> {
  const { sub, issuer, reason } = options
  if ((token === undefined) === (sub === undefined)) {
    throw new Failure(
      'invalid_request',
      'Give a token or its id, or --sub NAME for all that was issued to it.',
    )
  }
  const params = {
    ...(token === undefined ? { subject: sub } : { [isWhole(token) ? 'token' : 'jti']: token }),
    issuer,
    reason,
  }
  await using client = await openClient()
  const { revoked } = await ask<{ revoked: string }>(client, 'revoke', params)
  if (json) return print({ revoked })
  if (sub === undefined) return print(`revoked (${revoked})`)
  print(`revoked all that was issued to ${sub}`)
  if (issuer === undefined) say('A person of a login or of another issuer is named with --issuer.')
}

function isWhole(token: string): boolean {
  return token.includes('.') || token.startsWith('drg_')
}

export function readScopes(words: readonly string[] | undefined): Scope[] {
  if (!words) return scopes.filter((scope) => scope !== 'admin')
  return words.flatMap(split).map((word) => {
    const scope = Scope.safeParse(word)
    if (scope.success) return scope.data
    throw new Failure('invalid_request', `There is no scope ${word}.`, {
      hint: `Scopes: ${scopes.join(', ')}.`,
    })
  })
}

export function readNamespaces(prefixes: readonly string[]): string[] {
  const namespaces = prefixes.flatMap(split)
  if (namespaces.length > 100)
    throw new Failure('invalid_request', 'A token may have at most 100 namespaces.')
  for (const namespace of namespaces) {
    if (!PackageName.safeParse(namespace).success)
      throw new Failure('invalid_request', `${namespace} is not a namespace.`)
  }
  return namespaces
}

function split(words: string): string[] {
  return words.split(/[ ,]+/).filter(Boolean)
}
