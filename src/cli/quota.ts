import { Failure } from '../../schemas/failure.ts'
import type { JsonObject } from '../../schemas/json.ts'
import type { Usage } from '../../schemas/quota.ts'
import { bold, print, printTable } from './output.ts'
import { askRegistry } from './send.ts'
import type { Column } from './table.ts'

interface Selection {
  readonly sub?: string
  readonly issuer?: string
  readonly namespace?: string
}

/** Prints what an owner or a namespace uses; the caller without a selection. */
export async function showUsage(selection: Selection, json: boolean): Promise<void> {
  await ask('get_usage', paramsOf(selection), json)
}

/** Sets a limit; `standard` removes it. */
export async function setQuota(
  quota: string,
  limit: string,
  selection: Selection,
  json: boolean,
): Promise<void> {
  if (limit !== 'standard' && !/^\d{1,15}$/.test(limit)) {
    throw new Failure('invalid_request', `${limit} is no limit: give a number, or standard.`)
  }
  const params = { ...paramsOf(selection), quota, limit: limit === 'standard' ? null : Number(limit) }
  await ask('set_quota', params, json)
}

async function ask(action: string, params: JsonObject, json: boolean): Promise<void> {
  const usage = await askRegistry<Usage>(action, params)
  if (json) return print(usage)
  await printTable(columns, rowsOf(usage))
}

function paramsOf({ sub, issuer, namespace }: Selection): JsonObject {
  return {
    ...(sub !== undefined && { subject: sub }),
    ...(issuer !== undefined && { issuer }),
    ...(namespace !== undefined && { namespace }),
  }
}

const columns: readonly Column[] = [
  { title: 'ACCOUNT', style: bold, elastic: true },
  { title: 'QUOTA' },
  { title: 'USED' },
  { title: 'LIMIT' },
]

function rowsOf({ accounts }: Usage): string[][] {
  return accounts.flatMap(({ owner, namespace, quotas }) => {
    const account = owner ? `${owner.subject} (${owner.issuer})` : String(namespace)
    return quotas.map(({ quota, used, limit }) => [account, quota, String(used), String(limit ?? 'none')])
  })
}
