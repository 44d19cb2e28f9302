import { Failure } from '../../schemas/failure.ts'
import { type ApiKey, localIssuer, type NewApiKey } from '../../schemas/identity.ts'
import type { Principal } from '../../schemas/scope.ts'
import { readConfig } from '../app/config.ts'
import { ask, openClient } from './client.ts'
import { readSeconds } from './input.ts'
import { print, say } from './output.ts'
import { askRegistry } from './send.ts'
import { readNamespaces, readScopes } from './token.ts'

interface Options {
  readonly sub?: string
  readonly label?: string
  readonly scope?: string[]
  readonly namespace?: string[]
  readonly ttl: string
}

/** Prints the key and nothing else. */
export async function createApiKey(options: Options, json: boolean): Promise<void> {
  const { sub, label, scope, namespace, ttl } = options
  const config = readConfig()
  if (sub !== undefined && config.DRAGOMAN_URL) {
    throw new Failure(
      'invalid_request',
      '--sub works on the data folder only: with DRAGOMAN_URL, the key belongs to the caller.',
    )
  }
  const params = {
    ttl_s: readSeconds('--ttl', ttl),
    label,
    scopes: scope && readScopes(scope),
    namespaces: namespace && readNamespaces(namespace),
  }
  await using client = await openClient(config, sub === undefined ? undefined : operatorAs(sub))
  const key = await ask<NewApiKey>(client, 'create_key', params)
  print(json ? key : key.key)
}

export async function listApiKeys(json: boolean): Promise<void> {
  const { keys } = await askRegistry<{ keys: ApiKey[] }>('list_keys')
  if (json) return print({ keys })
  for (const key of keys) print(line(key))
  if (keys.length === 0) say('You have no API key. To make one: dragoman apikey create')
}

export async function deleteApiKey(id: string, json: boolean): Promise<void> {
  await askRegistry('delete_key', { key: id })
  print(json ? { deleted: id } : `deleted ${id}`)
}

/** The owner of the data folder may make tokens for any subject, so API keys for any subject too. */
function operatorAs(subject: string): Principal {
  return { issuer: localIssuer, subject, scopes: new Set(['admin'] as const), namespaces: [] }
}

function line({ id, subject, scopes, expires_at, revoked, label }: ApiKey): string {
  const reason = revoked?.reason ? `, ${revoked.reason}` : ''
  const state = revoked
    ? `not valid: all of ${subject} was revoked at ${revoked.at}${reason}`
    : `until ${expires_at}`
  return `${id} ${subject} ${state}: ${scopes.join(' ')}${label === null ? '' : ` (${label})`}`
}
