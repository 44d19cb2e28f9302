import { z } from 'zod'
import { Mirror } from './mirror.ts'
import { Counts } from './search.ts'

const time = z.iso.datetime()
const count = z.int().min(0)
const milliseconds = z.number().min(0).nullable()

/** What one hour brought. Calls are those of actions, whatever the transport. */
export const TrafficHour = z
  .object({
    at: time.describe('Start of the hour, in UTC.'),
    calls: count,
    refused: count.describe(
      'Calls that were answered with an error of the caller (codes with a status of 4xx).',
    ),
    failed: count.describe('Calls that were answered with an error of this gateway or of an agent (5xx).'),
    p50_ms: milliseconds.describe('Median time of a call; null without calls.'),
    p95_ms: milliseconds,
  })
  .meta({ id: 'TrafficHour' })
export type TrafficHour = z.infer<typeof TrafficHour>

/** An agent that is slow or fails now. */
export const UpstreamTrouble = z
  .object({
    agent: z.string(),
    state: z.enum(['failing', 'slow']),
    calls: count.describe('Calls of this hour and of the one before.'),
    failed: count,
    p95_ms: milliseconds,
  })
  .meta({ id: 'UpstreamTrouble' })
export type UpstreamTrouble = z.infer<typeof UpstreamTrouble>

const MirrorState = Mirror.pick({
  name: true,
  kind: true,
  status: true,
  finished_at: true,
  next_at: true,
  counts: true,
}).meta({ id: 'MirrorState' })

/** A query that found too little, of at least five callers, without words that may tell of a person. */
export const UnmetQuery = z
  .object({
    query: z.string(),
    times: count,
    found: z.enum(['nothing', 'little']).describe('What the last of these searches found.'),
  })
  .meta({ id: 'UnmetQuery' })
export type UnmetQuery = z.infer<typeof UnmetQuery>

/** What only an admin sees. */
const StatusDetail = z
  .object({
    host: z.string().describe('Name of the machine.'),
    process: z.int(),
    memory_bytes: z.int(),
    reasons: z.array(z.string()).describe('Why the gateway needs its operator.'),
    mirror_errors: z.array(
      z
        .object({ name: z.string(), url: z.string(), code: z.string(), message: z.string() })
        .meta({ id: 'MirrorError' }),
    ),
    unmet_queries: z
      .array(UnmetQuery)
      .optional()
      .describe('Queries that found too little since the start, where DRAGOMAN_UNMET_QUERIES is on.'),
  })
  .meta({ id: 'StatusDetail' })

/** How this gateway does. Traffic is that of the process that answers; the rest is that of all. */
export const Status = z
  .object({
    status: z.enum(['ready', 'degraded', 'starting']),
    version: z.string(),
    at: time,
    node: z
      .object({
        id: z.string().describe('Names the process that answers, until it ends.'),
        started_at: time,
      })
      .meta({ id: 'GatewayNode' })
      .describe('Several processes may serve one registry.'),
    store: z
      .object({ kind: z.enum(['sqlite', 'postgresql']), answers: z.boolean() })
      .meta({ id: 'StoreState' }),
    revision: z.int().nullable().describe('Revision of the registry; null if the store does not answer.'),
    applied_revision: z.int().describe('The revision that searches see.'),
    agents: z
      .object({
        total: count,
        callable: Counts.describe('By how they are called.'),
        live: z.object({ answering: count, silent: count, unknown: count }).meta({ id: 'LivenessCounts' }),
      })
      .meta({ id: 'AgentCounts' })
      .nullable()
      .describe('The public agents; null if the store does not answer.'),
    mirrors: z.array(MirrorState),
    upstreams: z.array(UpstreamTrouble).describe('Agents that are slow or fail, the worst first.'),
    hours: z.array(TrafficHour).describe('The last 24 hours, the oldest first.'),
    detail: StatusDetail.optional().describe('For admins.'),
  })
  .meta({ id: 'Status' })
export type Status = z.infer<typeof Status>
