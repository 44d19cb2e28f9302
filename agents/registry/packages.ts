import { z } from 'zod'
import { type Action, defineAction } from '../../schemas/action.ts'
import { ApprovalInput, ApprovalList, ApprovalReport } from '../../schemas/approval.ts'
import { AgentInput } from '../../schemas/publication.ts'
import { input, output } from '../../schemas/shape.ts'
import { requirePrincipal } from './caller.ts'
import type { PackagesPort } from './port.ts'

const common = { access: { scope: 'admin' }, advertised: false } as const

/** An installation may take minutes. */
const deadline_ms = 900_000

export function approvePackage(packages: PackagesPort): Action<ApprovalInput, ApprovalReport> {
  return defineAction({
    ...common,
    name: 'approve_package',
    title: 'Approve the package of an agent',
    description:
      'Lets this gateway run the package of an agent, in a sandbox, at one exact version: installs it, starts it once and reads its tools. A new version, digest, argument, variable or host needs a new approval. A dry run only shows what would be approved.',
    input: input(ApprovalInput),
    output: output(ApprovalReport),
    effect: 'write',
    secret: true,
    deadline_ms,
    run: (request, { principal, signal, emit }) => {
      let steps = 0
      const progress = (message: string) => void emit({ progress: ++steps, message }).catch(() => {})
      return packages.approve(request, requirePrincipal(principal), signal, progress)
    },
  })
}

const Range = z.strictObject({
  limit: z.int().min(1).max(100).default(100),
  cursor: z.uuid().optional().describe('next_cursor of the previous page.'),
})

export function listApprovals(packages: PackagesPort): Action<z.output<typeof Range>, ApprovalList> {
  return defineAction({
    ...common,
    name: 'list_approvals',
    title: 'List approvals',
    description:
      'The packages that this gateway may run, and those that you approved for yourself in your host, without secrets.',
    input: input(Range),
    output: output(ApprovalList),
    effect: 'read',
    run: (range, { principal }) => packages.list(range, requirePrincipal(principal)),
  })
}

export function revokeApproval(packages: PackagesPort): Action<AgentInput, Record<string, never>> {
  return defineAction({
    ...common,
    name: 'revoke_approval',
    title: 'Revoke an approval',
    description: 'Stops the package of an agent, deletes its approval and the secrets that came with it.',
    input: input(AgentInput),
    output: output(z.strictObject({})),
    effect: 'write',
    async run({ agent }, { principal }) {
      await packages.revoke(agent, requirePrincipal(principal))
      return {}
    },
  })
}
