import type { Callable } from '../../schemas/callable.ts'
import type { Match } from '../../schemas/card.ts'
import type { FacetName, FilteredValues, FilterValues } from '../../schemas/entry-fields.ts'
import type { State, VerificationLevel } from '../../schemas/entry-parts.ts'
import type { LivenessStatus } from '../../schemas/liveness.ts'
import type { Correction } from '../../schemas/search.ts'

/** The indexed part of an entry: all values by which searches filter, and what else ranks and finds it. */
export interface SearchDocument extends FilteredValues {
  readonly id: string
  readonly package_name: string
  readonly name: string
  readonly description: string
  readonly state: State | 'SUSPENDED'
  readonly owner: string | null
  readonly liveness: LivenessStatus
  readonly callable: Callable
  readonly publisher: string | null
  readonly verification_level: VerificationLevel
  readonly deprecated: boolean
  /** The name imitates that of another agent. */
  readonly imitates_name: boolean
  /** Where the entry comes from, and what it shares with entries of other sources that describe the same agent. */
  readonly source: string | null
  readonly agent_keys: readonly string[]
  /** RFC 3339. */
  readonly created_at: string
  readonly capabilities: readonly { readonly name: string; readonly description: string }[]
}

/** The current state of an entry; a null document means that the entry was removed. */
export interface EntryChange {
  readonly id: string
  readonly document: SearchDocument | null
}

/**
 * Every condition must hold. Text is compared without case. An entry of unknown liveness meets neither value of
 * `live`.
 */
export type Filter = FilterValues

/** Without a text, `relevance` means `newest`. */
export type Sort = 'relevance' | 'newest' | 'name'

/**
 * Keyset position of a hit: its sort key and id. The next page continues after it even if the index has changed
 * since.
 */
export interface Position {
  /** The score (relevance), milliseconds since the epoch (newest) or the name. */
  readonly key: number | string
  /** Orders hits with the same key: see `tieOf`. Empty when absent. */
  readonly tie?: string
  readonly id: string
}

export interface IndexQuery {
  readonly text?: string
  readonly filter: Filter
  readonly limit: number
  readonly after?: Position
  readonly sort: Sort
  readonly facets?: boolean
  /** With `facets`: counts the values of a filtered field without its own filter. */
  readonly facet_choices?: boolean
  /** Drops hits with a lower score. */
  readonly min_score?: number
  /** Searches by words only, without meaning. */
  readonly words_only?: boolean
  /** Searches for the words as they are written. */
  readonly exact?: boolean
}

export interface Hit {
  readonly id: string
  /** 0 to 1, above 1 for an exact name; 0 without a text. */
  readonly score: number
  /** The probability that the entry fits the text, 0 to 1; absent without a text. */
  readonly confidence?: number
  readonly why: Match
  readonly position: Position
  /** Ids of entries of other sources that describe the same agent, the best first. */
  readonly alternatives?: readonly string[]
}

/** Counts of the values in the whole result, the most frequent values first. */
export type Facets = Readonly<Record<FacetName, Record<string, number>>>

export interface Hits {
  readonly hits: readonly Hit[]
  /** Number of entries that match text and filter, on all pages together. */
  readonly total: number
  readonly facets?: Facets
  /** The highest confidence of the best hits of the whole result; absent without a text. */
  readonly confidence?: number
  /** The words of the text that were replaced. */
  readonly corrected?: readonly Correction[]
  /** The part of the search that failed, as a text. */
  readonly degraded?: string
}

/** An index of the registry's entries. Derived data: it can be rebuilt from the database at any time. */
export interface SearchIndex extends AsyncDisposable {
  /** Number of the last registry change that searches can see. */
  readonly applied_revision: number
  /**
   * True if the entry is public: it is ACTIVE, and not suspended. Undefined if the index does not know what it was: the
   * next change of the entry then counts as a change of the set of public entries.
   */
  lists(id: string): boolean | undefined
  /** Brings the index to `revision`: each change adds, replaces or removes its entry, in order. */
  apply(changes: readonly EntryChange[], revision: number): Promise<void>
  /** Empties an index that cannot be brought back to an earlier revision; absent if it can. */
  discard?(): Promise<void>
  /** Ids of the listed entries whose name or package name has the text, the best first. */
  complete(text: string, limit: number): Promise<string[]>
  /** Throws the signal's reason when it has aborted, Failure `invalid_request` for a position of another sort. */
  search(query: IndexQuery, signal: AbortSignal): Promise<Hits>
}
