/** As many rows or ids as one statement takes: its parameters stay well below SQLite's limit of 32,766. */
const longest = 500

/** All of them in order, some at a time. */
export function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += longest) yield all.slice(start, start + longest)
}
