import { z } from 'zod'

/** What a mirror reads: an MCP registry, an ARD registry or catalog, a list of A2A cards, or a file of JSON lines. */
export const MirrorKind = z.enum(['mcp-registry', 'ard', 'cards', 'lines'])
export type MirrorKind = z.infer<typeof MirrorKind>

export const MirrorName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'Use 1 to 40 lower-case letters, digits and dashes.')
  .refine((name) => name !== 'import', 'This name belongs to imported files.')

const text = z.string().trim().min(1).max(500)

/** Time between two runs, in seconds. */
const minInterval = 60

/** The settings of a mirror, as its operator states them. */
export const MirrorInput = z.strictObject({
  source: z
    .string()
    .min(1)
    .max(2048)
    .describe(
      'The word official, or the URL of a registry, a catalog, a list of cards or a file of JSON lines.',
    ),
  name: MirrorName.optional().describe('Name of the mirror; made from the source when absent.'),
  kind: MirrorKind.optional().describe('What the source is; found out when absent.'),
  every_s: z
    .int()
    .min(minInterval)
    .max(30 * 86_400)
    .default(3600)
    .describe('Seconds between two runs.'),
  filter: z
    .array(z.string().trim().min(1).max(200))
    .max(50)
    .default([])
    .describe(
      'What is mirrored: latest (only the latest version of each name), remote (agents with an address), package (agents with a package), or patterns of names with *. All when empty.',
    ),
  license: text.optional().describe('Licence of the texts of the source.'),
  attribution: text.optional().describe('Whom to name when the texts are used.'),
  takedown: text.optional().describe('Where the source takes requests to remove an agent.'),
})
export type MirrorInput = z.output<typeof MirrorInput>

/** What a run did with the agents of the source. */
export const MirrorCounts = z
  .object({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    removed: z.int().describe('Hidden, because the source has removed them.'),
    rejected: z.int().describe('Not listed; some of them are in `rejections`.'),
  })
  .meta({ id: 'MirrorCounts' })
export type MirrorCounts = z.infer<typeof MirrorCounts>

/** The counts at the start of a run. */
export const noCounts: MirrorCounts = { created: 0, updated: 0, unchanged: 0, removed: 0, rejected: 0 }

const time = z.iso.datetime()

/** A mirror and its last run. */
export const Mirror = z.object({
  name: z.string(),
  kind: MirrorKind,
  url: z.string(),
  every_s: z.int(),
  filter: z.array(z.string()),
  license: z.string().nullable(),
  attribution: z.string().nullable(),
  takedown: z.string().nullable(),
  created_at: time,
  status: z
    .enum(['waiting', 'running', 'failing'])
    .describe('Waiting for its next run, running, or failing and waiting to be tried again.'),
  run: z.int().describe('Number of the run; 0 before the first one.'),
  mode: z
    .enum(['all', 'changes'])
    .nullable()
    .describe('Whether the run reads everything or what has changed since the last one.'),
  started_at: time.nullable(),
  finished_at: time.nullable().describe('End of the last run that was finished.'),
  next_at: time.describe('Time of the next run.'),
  counts: MirrorCounts.describe('Of the run that is under way or was the last.'),
  rejections: z
    .array(z.object({ key: z.string(), reason: z.string() }))
    .describe('The last agents that were not listed, with the reasons.'),
  error: z
    .object({ code: z.string(), message: z.string(), at: time })
    .nullable()
    .describe('Why the last try failed.'),
})
export type Mirror = z.infer<typeof Mirror>

/** A mirror with the position of its run. */
export const StoredMirror = Mirror.extend({
  /** What is left: pages of the run, agents to hide that it did not find, nothing, or the removal of the mirror. */
  phase: z.enum(['pages', 'sweep', 'done', 'removal']),
  /** Where the pages that were read end; null at the start. */
  cursor: z.string().nullable(),
  /** Only what changed after this time is read; null: everything. */
  since: z.string().nullable(),
  /** Start of the last finished run, by the clock of the source or by ours, whichever is earlier. */
  complete_until: z.string().nullable(),
  /** Start of the last finished run that read everything. */
  all_read_at: z.string().nullable(),
  /** Tries that failed since the last run that was finished, or since the last page where pages resume. */
  failures: z.int(),
  /** First of the runs whose source lacks so many agents that they were not hidden. */
  doubted_at: z.string().nullable().default(null),
})
export type StoredMirror = z.infer<typeof StoredMirror>

/** An agent of a mirror: its key at the source and its entry here. */
export interface MirroredItem {
  readonly key: string
  readonly entry_id: string
}

/** The mirrors and their agents. */
export interface MirrorStore {
  list(): Promise<readonly StoredMirror[]>
  get(name: string): Promise<StoredMirror | undefined>
  /** Adds a mirror; false if the name is taken. */
  add(mirror: StoredMirror): Promise<boolean>
  /** Replaces a mirror that exists. */
  put(mirror: StoredMirror): Promise<void>
  /** Removes a mirror, and its agents and versions that are left. */
  remove(name: string): Promise<void>
  /** How many public agents a mirror has, and how many of them no run from `run` on has found. */
  count(name: string, run: number): Promise<{ readonly listed: number; readonly missing: number }>
  /** What a mirror holds, hidden agents too: agents and versions, and their bytes as they are stored. */
  size(name: string): Promise<{ readonly rows: number; readonly bytes: number }>
  /** Agents of a mirror that no run from `run` on has found, in the order of their keys. */
  items(
    name: string,
    query: { readonly run?: number; readonly after?: string; readonly limit: number },
  ): Promise<readonly MirroredItem[]>
}
