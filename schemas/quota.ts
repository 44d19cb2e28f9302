import { z } from 'zod'
import { PackageName } from './names.ts'
import { cursor, limit, nextCursor } from './paging.ts'
import { Issuer, Subject } from './scope.ts'
import { Party } from './trust.ts'

/** The quotas of an owner that the store counts, with their limits where nobody sets others. */
export const quotas = {
  entries: { limit: 1000, meaning: 'Agents that are not deleted.' },
  stage_entries: { limit: 200, meaning: 'Agents in STAGE.' },
  bytes: {
    limit: 64 * 1024 * 1024,
    meaning: 'Bytes of the agents that are not deleted, as they are stored.',
  },
  versions_per_day: { limit: 1000, meaning: 'Versions published since 00:00 UTC.' },
} as const satisfies Record<string, { readonly limit: number; readonly meaning: string }>

export type QuotaName = keyof typeof quotas
export const quotaNames = Object.keys(quotas) as QuotaName[]

/** A number for each quota: its limit, or what is used of it. */
export type QuotaNumbers = Readonly<Record<QuotaName, number>>

export const standardQuotas = Object.fromEntries(
  quotaNames.map((name) => [name, quotas[name].limit]),
) as QuotaNumbers

export const QuotaName = z.enum(quotaNames as [QuotaName, ...QuotaName[]]).meta({ id: 'QuotaName' })

/** The state of one quota; a limit of null means that there is none. */
export const QuotaState = z
  .object({
    quota: z.string(),
    meaning: z.string(),
    used: z.int(),
    limit: z.int().nullable().describe('Null: there is no limit.'),
    left: z.int().nullable(),
  })
  .meta({ id: 'QuotaState' })
export type QuotaState = z.infer<typeof QuotaState>

const account = {
  subject: Subject.optional().describe('Subject of the owner.'),
  issuer: Issuer.optional().describe('Issuer of the tokens of the subject; this gateway when absent.'),
  namespace: PackageName.optional().describe(
    'A claimed namespace, whose agents count together, whoever published them.',
  ),
}

/** Selects an account; the caller's own ones when it is empty. */
export const UsageInput = z.strictObject(account)
export type UsageInput = z.output<typeof UsageInput>

export const QuotaInput = z
  .strictObject({
    ...account,
    quota: QuotaName,
    limit: z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().describe('Null: the default limit again.'),
  })
  .refine(({ subject, namespace }) => (subject === undefined) !== (namespace === undefined), {
    message: 'Give either subject or namespace.',
  })
  .refine(({ subject, issuer }) => issuer === undefined || subject !== undefined, {
    message: 'An issuer needs a subject.',
  })
export type QuotaInput = z.output<typeof QuotaInput>

const Account = z
  .object({
    owner: Party.nullable().describe('Null for a namespace.'),
    namespace: z.string().nullable(),
    quotas: z.array(QuotaState),
  })
  .meta({ id: 'AccountUsage' })
export type Account = z.infer<typeof Account>

/** Which page of the accounts by the share of their quotas that they use. */
export const QuotaRange = z.strictObject({
  limit,
  cursor,
})
export type QuotaRange = z.output<typeof QuotaRange>

const RankedAccount = Account.extend({
  quota: z.string().nullable().describe('The quota of which the account uses the largest share.'),
  share: z
    .number()
    .nullable()
    .describe('What it uses of that quota: 1 is all of it. Null: the account has no limit.'),
}).meta({ id: 'RankedAccount' })
export type RankedAccount = z.infer<typeof RankedAccount>

export const QuotaPage = z
  .object({
    accounts: z.array(RankedAccount),
    next_cursor: nextCursor,
  })
  .meta({ id: 'QuotaPage' })
export type QuotaPage = z.infer<typeof QuotaPage>

/** What accounts use: an owner, and the namespaces that the owner claims. */
export const Usage = z.object({ accounts: z.array(Account) }).meta({ id: 'Usage' })
export type Usage = z.infer<typeof Usage>
