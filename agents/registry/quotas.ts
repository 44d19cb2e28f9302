import { type Action, defineAction } from '../../schemas/action.ts'
import { QuotaInput, QuotaPage, QuotaRange, Usage, UsageInput } from '../../schemas/quota.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { QuotasPort } from './port.ts'

export function getUsage(quotas: QuotasPort): Action<UsageInput, Usage> {
  return defineAction({
    name: 'get_usage',
    title: 'Read usage and quotas',
    description:
      'What you use of each quota, its limit and what is left, for you and for each namespace that you claim. An admin may ask for another owner or namespace.',
    input: input(UsageInput),
    output: output(Usage),
    access: 'bearer',
    effect: 'read',
    advertised: false,
    run: (request, { principal }) => quotas.usage(request, requirePrincipal(principal)),
  })
}

export function listQuotas(quotas: QuotasPort): Action<QuotaRange, QuotaPage> {
  return defineAction({
    name: 'list_quotas',
    title: 'List what owners use',
    description:
      'Owners and claimed namespaces with what they use of each quota that the database counts, those that are nearest to a limit first.',
    input: input(QuotaRange),
    output: output(QuotaPage),
    access: { scope: 'admin' },
    effect: 'read',
    advertised: false,
    run: (range) => quotas.rank(range),
  })
}

export function setQuota(quotas: QuotasPort): Action<QuotaInput, Usage> {
  return defineAction({
    name: 'set_quota',
    title: 'Set a quota',
    description:
      'Sets the limit of one quota of an owner or a namespace, or removes it; answers what is used.',
    input: input(QuotaInput),
    output: output(Usage),
    access: { scope: 'admin' },
    effect: 'write',
    advertised: false,
    run: (request, { principal }) => quotas.setQuota(request, requirePrincipal(principal)),
  })
}
