import { z } from 'zod'

/** How calls ended. */
const CallCounts = z.object({
  calls: z.int().min(0),
  refused: z
    .int()
    .min(0)
    .describe('Calls that were answered with an error of their caller (codes with a status of 4xx).'),
  failed: z.int().min(0).describe('Calls that the agent did not answer as it should (5xx).'),
})
export type CallCounts = z.infer<typeof CallCounts>

const CallDay = CallCounts.extend({ date: z.iso.date().describe('The day in UTC.') }).meta({ id: 'CallDay' })
type CallDay = z.infer<typeof CallDay>

/** The calls of an agent by days. */
export const CallHistory = z
  .object({
    package_name: z.string(),
    from: z.iso.date().describe('The first day of the span, in UTC.'),
    to: z.iso.date().describe('The last day: today.'),
    total: CallCounts.meta({ id: 'CallCounts' }).describe('Of all days of the span.'),
    days: z.array(CallDay).describe('In order. Days without a call are left out.'),
  })
  .meta({ id: 'CallHistory' })
export type CallHistory = z.infer<typeof CallHistory>

/** Calls of agents by days, which count from the epoch in UTC. They name no caller. */
export interface CallStore {
  /** Adds to the counts of a day, by the ids of the entries. */
  add(day: number, counts: ReadonlyMap<string, CallCounts>): Promise<void>
  /** The days of one agent from a day on, in order. */
  days(entryId: string, from: number): Promise<readonly CallDay[]>
}
