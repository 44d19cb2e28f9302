/** Counters that a commit increments if other processes wait for such commits. */
export interface Counters {
  readonly revision: number
  /** Commits of API keys and revocations. */
  readonly identity: number
}

/** The statement by which a process learns of commits, and of the server's clock: `now`, seconds since the epoch. */
export const selectCounters = `select name, value, extract(epoch from clock_timestamp())::float8 as now
  from counter where name in ('revision', 'identity')`

export function toCounters(rows: readonly { readonly name: string; readonly value: number }[]): Counters {
  const counted = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { revision: counted('revision'), identity: counted('identity') }
}
