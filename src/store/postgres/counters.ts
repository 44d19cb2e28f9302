/** Counters that a commit increments if other processes wait for such commits. */
export interface Counters {
  readonly revision: number
  /** Commits of API keys and revocations. */
  readonly identity: number
}

/** The statement by which a process learns of commits. */
export const selectCounters = `select name, value from counter where name in ('revision', 'identity')`

export function toCounters(rows: readonly { readonly name: string; readonly value: number }[]): Counters {
  const counted = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { revision: counted('revision'), identity: counted('identity') }
}
