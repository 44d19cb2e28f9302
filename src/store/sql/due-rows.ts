/**
 * The first rows whose time has come, then those that a clock which was ahead has put off beyond `latest`. One condition
 * for both would read a whole index: over a million entries that takes 0.1 s, in which SQLite blocks the process.
 */
export async function dueRows<Row>(
  now: string,
  latest: string,
  limit: number,
  read: (operator: '<=' | '>', time: string, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const due = await read('<=', now, limit)
  return due.length < limit ? [...due, ...(await read('>', latest, limit - due.length))] : due
}
