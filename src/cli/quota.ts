import { Failure } from '../../schemas/failure.ts'
import type { JsonObject } from '../../schemas/json.ts'
import type { Usage } from '../../schemas/quota.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

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
  await using client = await openClient()
  const usage = (await client.send({ to: 'svc.registry', action, params })) as unknown as Usage
  if (json) print(usage)
  else for (const line of linesOf(usage)) print(line)
}

function paramsOf({ sub, issuer, namespace }: Selection): JsonObject {
  return {
    ...(sub !== undefined && { subject: sub }),
    ...(issuer !== undefined && { issuer }),
    ...(namespace !== undefined && { namespace }),
  }
}

function linesOf({ accounts }: Usage): string[] {
  return accounts.flatMap(({ owner, namespace, quotas }) => [
    owner ? `${owner.subject} (${owner.issuer})` : String(namespace),
    ...quotas.map(({ quota, used, limit }) => `  ${quota}: ${used} of ${limit ?? 'any number'}`),
  ])
}
