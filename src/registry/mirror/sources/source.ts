import type { Rejection, SourceItem } from '../source-items.ts'

/** Where a run begins. */
export interface PageRequest {
  /** End of the last page that was read; null: the beginning. */
  readonly cursor: string | null
  /** Only what changed after this RFC 3339 time; null: everything. */
  readonly since: string | null
  /** Only the latest version of each name. */
  readonly latest: boolean
  readonly signal: AbortSignal
}

export interface SourcePage {
  readonly items: readonly SourceItem[]
  readonly rejected: readonly Rejection[]
  /** Where the page ends; null: it is the last one. */
  readonly next: string | null
  /** The time at the source, in milliseconds since the epoch, if it states one. */
  readonly source_time?: number | undefined
}

/** A registry, a catalog or a list that a mirror reads. Its methods throw Failure `upstream_…`. */
export interface MirrorSource {
  /** Whether it can be asked for what has changed since a time. */
  readonly knows_changes: boolean
  /** Whether a cursor of an earlier process continues the pages; otherwise they begin anew. */
  readonly resumes: boolean
  pages(request: PageRequest): AsyncIterable<SourcePage>
}
