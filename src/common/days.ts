export const dayMilliseconds = 86_400_000

/** The day of a time in milliseconds since the epoch: days since the epoch, in UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / dayMilliseconds)
}

/** A day as a date: `2026-11-26`. */
export function dateOfDay(day: number): string {
  return new Date(day * dayMilliseconds).toISOString().slice(0, 10)
}
