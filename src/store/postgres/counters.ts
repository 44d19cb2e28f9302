/** What changes with the commits that somebody waits for. */
export interface Counters {
  readonly revision: number
  /** Of API keys and revocations. */
  readonly identity: number
}

/** The one statement by which a process looks whether anything happened. */
export const askCounters = `select name, value from counter where name in ('revision', 'identity')`

export function toCounters(rows: readonly { readonly name: string; readonly value: number }[]): Counters {
  const counted = (name: string) => rows.find((row) => row.name === name)?.value ?? 0
  return { revision: counted('revision'), identity: counted('identity') }
}
