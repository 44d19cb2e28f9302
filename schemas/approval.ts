import { z } from 'zod'
import { Capability } from './entry-parts.ts'
import { nextCursor } from './paging.ts'
import { agentReference } from './publication.ts'
import { Actor } from './trust.ts'

const value = z.string().max(8192)
const values = z.record(z.string().min(1).max(200), value).meta({ id: 'NamedValues' })

/** `example.com`, or `example.com:8443`. */
const Host = z
  .string()
  .toLowerCase()
  .regex(
    /^(?=.{1,255}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*(?::\d{1,5})?$/,
    'Give a name, such as example.com or example.com:8443.',
  )

/** What an admin allows a package to be started with. */
export const ApprovalInput = z.strictObject({
  agent: agentReference,
  version: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe('Exact version, for a package that states none; it must be the stated one otherwise.'),
  variables: values.default({}).describe('Values of environment variables, by name.'),
  arguments: values.default({}).describe('Values of stated arguments, by name.'),
  more_arguments: z.array(value).max(100).default([]).describe('Arguments after those that it states.'),
  hosts: z.array(Host).max(50).default([]).describe('Hosts that it may reach; none: no network.'),
  scripts: z.boolean().default(false).describe('Allow install scripts and builds from source.'),
  integrity: z
    .string()
    .max(200)
    .optional()
    .describe('Refuse unless the package has this digest, which a dry run shows.'),
  dry_run: z.boolean().default(false).describe('Only show what would be approved.'),
})
export type ApprovalInput = z.output<typeof ApprovalInput>

const RegistryType = z.enum(['npm', 'pypi', 'oci', 'mcpb'])

/** One value that a package starts with. */
const ApprovedValue = z
  .object({
    name: z.string(),
    part: z.enum(['argument', 'environment']),
    secret: z.boolean(),
    required: z.boolean(),
    value: z.string().nullable().describe('null for a secret, and for a value that was not given.'),
  })
  .meta({ id: 'ApprovedValue' })
export type ApprovedValue = z.infer<typeof ApprovedValue>

/** What was approved of a package: a new value of any field needs a new approval. */
export const ApprovedPackage = z
  .object({
    registry_type: RegistryType,
    identifier: z.string(),
    version: z.string(),
    integrity: z.string().describe('Digest of the package (W3C Subresource Integrity).'),
    lock: z.string().nullable().describe('SHA-256 of the lock file; null in a dry run.'),
    arguments: z.array(z.string()).describe('A dollar sign and a name in braces stand for a value.'),
    variables: z
      .record(z.string(), z.string())
      .describe(
        'Environment variables that its publisher sets; a dollar sign and a name in braces stand for a value.',
      ),
    values: z.array(ApprovedValue),
    hosts: z.array(z.string()),
    scripts: z.boolean(),
  })
  .meta({ id: 'ApprovedPackage' })
export type ApprovedPackage = z.infer<typeof ApprovedPackage>

/** The approval of a package. Times are RFC 3339. */
export const Approval = z
  .object({
    agent: z.string().describe('Package name of the entry.'),
    package: ApprovedPackage,
    approved_by: Actor,
    approved_at: z.iso.datetime(),
    callers: z
      .enum(['all', 'own'])
      .describe('all: it serves every caller; own: you approved it in your host, for yourself alone.'),
    difference: z
      .string()
      .nullable()
      .describe(
        'What the entry states otherwise since; the package does not start until it is approved again.',
      ),
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>

/** The answer to an approval, or to its dry run. */
export const ApprovalReport = z
  .object({
    agent: z.string(),
    publisher: z.string().nullable().describe('Subject of the owner of the entry; null: nobody claimed it.'),
    package: ApprovedPackage,
    published_at: z.string().nullable(),
    sandbox: z
      .object({
        kind: z.string().describe('bubblewrap, podman, docker, or none.'),
        limited: z.array(z.string()),
        not_limited: z.array(z.string()),
      })
      .meta({ id: 'SandboxReport' }),
    warnings: z.array(z.string()),
    missing: z.array(z.string()).describe('Required values that are not stored yet, by name.'),
    tools: z
      .array(Capability)
      .nullable()
      .describe('What it listed at its first start; null if it was not started.'),
    problem: z.string().nullable().describe('Why it was not started.'),
  })
  .meta({ id: 'ApprovalReport' })
export type ApprovalReport = z.infer<typeof ApprovalReport>

export const ApprovalList = z
  .object({
    approvals: z.array(Approval),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ApprovalList' })
export type ApprovalList = z.infer<typeof ApprovalList>

/** Which page of the approvals. */
export interface ApprovalRange {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Whom an approval serves: every caller, or the person with this key ([issuer, subject] as JSON). */
type ApprovalScope = 'operator' | (string & {})

export interface StoredApproval {
  /** Names the HOME of its processes; a new approval of the same package keeps it. */
  readonly id: string
  readonly scope: ApprovalScope
  readonly entry_id: string
  /** JSON of the domain. */
  readonly document: string
  readonly created_at: string
}

/** The approvals, one for each entry and scope. */
export interface ApprovalStore {
  find(scope: ApprovalScope, entryId: string): Promise<StoredApproval | undefined>
  /** In the order of the ids of their entries; behind one of these, and as many as `limit`, if they are given. */
  list(
    scope: ApprovalScope,
    range?: { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly StoredApproval[]>
  /** Adds an approval, or replaces that of the same scope and entry. */
  put(approval: StoredApproval): Promise<void>
  /** False if there is none. */
  remove(scope: ApprovalScope, entryId: string): Promise<boolean>
}
