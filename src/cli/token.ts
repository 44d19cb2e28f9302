import { Failure } from '../../schemas/failure.ts'
import { PackageName } from '../../schemas/names.ts'
import { Scope, scopes } from '../../schemas/scope.ts'
import { keysPath, readConfig } from '../app/config.ts'
import { maxTokenLength } from '../auth/authenticator.ts'
import { issuerName, mintToken } from '../auth/issuer.ts'
import { openKeyRing } from '../auth/key-ring.ts'
import { openClient } from './client.ts'
import { readSeconds } from './input.ts'
import { print } from './output.ts'

interface Options {
  readonly sub: string
  readonly scope?: string[]
  readonly namespace?: string[]
  readonly ttl: string
}

const maxSubject = 200

/** Prints a token signed by the key in the data folder, and nothing else. */
export async function createToken(
  { sub, scope, namespace = [], ttl }: Options,
  json: boolean,
): Promise<void> {
  const config = readConfig()
  const ring = await openKeyRing(keysPath(config), Date.now)
  const grant = {
    subject: sub,
    scopes: readScopes(scope),
    namespaces: readNamespaces(namespace),
    ttl_s: readSeconds('--ttl', ttl, 365),
    audience: [ring.name],
  }
  const issuer = issuerName(ring, config.DRAGOMAN_BASE_URL)
  const token = await mintToken(await ring.signing(), issuer, grant, Date.now)
  if (sub.length > maxSubject || token.length > maxTokenLength) {
    throw new Failure('invalid_request', 'No gateway would accept such a token.', {
      hint: `A subject may have at most ${maxSubject} characters, a token ${maxTokenLength}: use fewer namespaces.`,
    })
  }
  print(json ? { token } : token)
}

/** Revokes a token, given whole or by its id; running gateways refuse it within two seconds. */
export async function revokeToken(token: string, reason: string | undefined, json: boolean): Promise<void> {
  await using client = await openClient()
  const whole = token.includes('.') || token.startsWith('drg_')
  const params = { [whole ? 'token' : 'jti']: token, ...(reason !== undefined && { reason }) }
  const { revoked } = (await client.send({ to: 'svc.registry', action: 'revoke', params })) as {
    revoked: string
  }
  print(json ? { revoked } : `revoked (${revoked})`)
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
