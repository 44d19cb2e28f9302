import { z } from 'zod'
import { isRecord } from '../../../../schemas/json.ts'
import {
  capabilitiesKey,
  clientInfoKey,
  logLevelKey,
  modernVersion,
  versionKey,
} from '../../../common/mcp/protocol.ts'
import { type Fault, faults, refused } from './fault.ts'

const object = z.record(z.string(), z.json())
const bag = z.object({}).loose().optional()

const implementation = z.object({
  name: z.string(),
  version: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: z.string().optional(),
  icons: z
    .array(
      z.object({
        src: z.string(),
        mimeType: z.string().optional(),
        sizes: z.array(z.string()).optional(),
        theme: z.enum(['light', 'dark']).optional(),
      }),
    )
    .optional(),
})

const capabilities = z.object({
  experimental: z.record(z.string(), object).optional(),
  extensions: z.record(z.string(), object).optional(),
  sampling: z.object({ context: bag, tools: bag }).optional(),
  elicitation: z
    .object({ form: z.object({ applyDefaults: z.boolean().optional() }).loose().optional(), url: bag })
    .optional(),
  roots: z.object({}).loose().optional(),
})

/** RequestMetaObject of the specification's schema. */
const shape = z.object({
  progressToken: z.union([z.string(), z.int()]).optional(),
  [versionKey]: z.string(),
  [clientInfoKey]: implementation.optional(),
  [capabilitiesKey]: capabilities,
  [logLevelKey]: z
    .enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'])
    .optional(),
})

/** The `_meta` of a request. */
export interface Meta {
  readonly [versionKey]: string
  readonly [capabilitiesKey]: Readonly<Record<string, unknown>>
  readonly [logLevelKey]?: string
  readonly progressToken?: string | number
}

/** The `_meta` of a request (basic/index, Request Metadata). Throws Fault -32602, naming the key. */
export function readMeta(params: unknown): Meta {
  const meta = isRecord(params) && isRecord(params._meta) ? params._meta : undefined
  const missing = meta ? [versionKey, capabilitiesKey].filter((key) => !(key in meta)) : ['_meta']
  if (missing.length > 0) throw invalidMeta(`${missing.join(' and ')} must be present`, missing)
  const parsed = shape.safeParse(meta)
  if (parsed.success) return meta as unknown as Meta
  const [issue] = parsed.error.issues
  const key = issue?.path.join('.') || '_meta'
  throw invalidMeta(`${key}: ${issue?.message}`, [key])
}

function invalidMeta(detail: string, keys: readonly string[]): Fault {
  return refused(
    faults.invalidParams,
    `The _meta of a request of ${modernVersion} is invalid: ${detail}. Send both ${versionKey} and ${capabilitiesKey} with each request.`,
    { keys },
  )
}

/** Throws Fault -32022 for an unsupported protocol version. */
export function assertVersion(requested: string): void {
  if (requested === modernVersion) return
  throw refused(
    faults.unsupportedVersion,
    `Unsupported protocol version: ${requested.slice(0, 50)}. Send ${modernVersion}, or begin with initialize.`,
    {
      supported: [modernVersion],
      requested,
    },
  )
}
