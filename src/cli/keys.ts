import { dirname } from 'node:path'
import { Failure } from '../../schemas/failure.ts'
import { keysPath, readConfig } from '../app/config.ts'
import { assertOwnData } from '../app/file-modes.ts'
import { replaceKeys } from '../app/keys-differ.ts'
import { type KeyRing, type KeySummary, openKeyRing } from '../auth/key-ring.ts'
import { bold, print, printTable, say } from './output.ts'
import { openOwnStore } from './own-store.ts'
import { askRegistry } from './send.ts'
import type { Column } from './table.ts'

const columns: readonly Column[] = [
  { title: 'KEY', style: bold, elastic: true },
  { title: 'STATE' },
  { title: 'SIGNS FROM', dropped: 1 },
  { title: 'UNTIL', dropped: 1 },
]

/** Lists the keys that verify tokens, the current signing key included. */
export async function listKeys(json: boolean): Promise<void> {
  const keys = await (await openRing()).list()
  if (json) return print({ keys })
  const rows = keys.map(({ kid, state, signs_from, retired_at }) => [
    kid,
    state,
    signs_from ?? '',
    retired_at ?? '',
  ])
  await printTable(columns, rows)
}

/** Adds a key to the data folder's; running gateways publish it at once. */
export async function rotateKeys(json: boolean): Promise<void> {
  const ring = await openRing()
  const config = readConfig()
  await assertOwnData(config)
  const key = await ring.rotate()
  print(json ? key : line(key))
  if (config.DATABASE_URL !== undefined)
    say(`Copy ${dirname(keysPath(config))} to the other gateways of this database before the key signs.`)
}

/** Makes the keys of the data folder those of the registry, whose own are lost. */
export async function replaceLostKeys(json: boolean): Promise<void> {
  const ring = await openRing()
  await using store = await openOwnStore({ alone: true })
  const key = await replaceKeys(store, ring)
  print(json ? key : line(key))
  say('Tokens of the lost keys stay refused: make new ones.')
}

/** Revokes a leaked key: tokens that it signed are refused from now on. */
export async function revokeKey(kid: string, reason: string | undefined, json: boolean): Promise<void> {
  await askRegistry('revoke', { kid, reason })
  print(json ? { revoked: kid } : `revoked ${kid}`)
}

function openRing(): Promise<KeyRing> {
  const config = readConfig()
  if (config.DRAGOMAN_URL) {
    throw new Failure(
      'invalid_request',
      'Signing keys are listed and rotated in the data folder of their gateway.',
      {
        hint: 'Unset DRAGOMAN_URL, set DRAGOMAN_DATA, and run the command on the machine of the gateway.',
      },
    )
  }
  return openKeyRing(keysPath(config), Date.now)
}

function line({ kid, state, signs_from, retired_at }: KeySummary): string {
  const from = signs_from === null ? '' : `, signs from ${signs_from}`
  const until = retired_at === null ? '' : `, until ${retired_at}`
  return `${kid} ${state}${from}${until}`
}
