import { Failure } from '../../schemas/failure.ts'
import type { Account, QuotaPage, RankedAccount, Usage } from '../../schemas/quota.ts'
import { readNumber } from './input.ts'
import { bold, print, printTable, say } from './output.ts'
import { readPages } from './pages.ts'
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
    throw new Failure(
      'invalid_request',
      `${limit} is not a limit: give a number, or standard for the default limit.`,
    )
  }
  const params = { ...paramsOf(selection), quota, limit: limit === 'standard' ? null : Number(limit) }
  await ask('set_quota', params, json)
}

/** Prints the owners and namespaces that use most of a quota, page by page up to the limit. */
export async function listQuotas(text: { limit: string }, json: boolean): Promise<void> {
  const { items: accounts, last } = await readPages<QuotaPage, RankedAccount>(
    { action: 'list_quotas', limit: readNumber('--limit', text.limit, 1, 10_000) },
    (page) => page.accounts,
  )
  if (json) return print({ accounts, next_cursor: last.next_cursor })
  await printTable(rankedColumns, accounts.map(rankedRow))
  if (accounts.length === 0) say('Nobody uses anything yet.')
  if (last.next_cursor !== null) say('There are more: --limit shows up to 10000.')
}

const rankedColumns: readonly Column[] = [
  { title: 'ACCOUNT', style: bold, elastic: true },
  { title: 'SHARE' },
  { title: 'QUOTA' },
  { title: 'USED', dropped: 1 },
  { title: 'LIMIT', dropped: 2 },
]

function rankedRow({ quota, share, quotas, ...account }: RankedAccount): string[] {
  const state = quotas.find((candidate) => candidate.quota === quota)
  const shown = share === null ? 'no limit' : `${Math.floor(share * 100)} %`
  return [accountOf(account), shown, quota ?? '', String(state?.used ?? ''), String(state?.limit ?? '')]
}

async function ask(action: string, params: object, json: boolean): Promise<void> {
  const usage = await askRegistry<Usage>(action, params)
  if (json) return print(usage)
  await printTable(columns, rowsOf(usage))
}

function paramsOf({ sub, issuer, namespace }: Selection) {
  return { subject: sub, issuer, namespace }
}

const columns: readonly Column[] = [
  { title: 'ACCOUNT', style: bold, elastic: true },
  { title: 'QUOTA' },
  { title: 'USED' },
  { title: 'LIMIT' },
]

function rowsOf({ accounts }: Usage): string[][] {
  return accounts.flatMap(({ owner, namespace, quotas }) => {
    const account = accountOf({ owner, namespace })
    return quotas.map(({ quota, used, limit }) => [account, quota, String(used), String(limit ?? 'none')])
  })
}

function accountOf({ owner, namespace }: Pick<Account, 'owner' | 'namespace'>): string {
  return owner ? `${owner.subject} (${owner.issuer})` : String(namespace)
}
