/** The first `limit` items in this order, sorted. An item that cannot be among them costs one comparison. */
export function takeFirst<T>(items: Iterable<T>, limit: number, compare: (left: T, right: T) => number): T[] {
  const first: T[] = []
  let last: T | undefined
  const cut = () => {
    first.sort(compare).splice(limit)
    last = first.length === limit ? first.at(-1) : undefined
  }
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    first.push(item)
    if (first.length >= limit * 2) cut()
  }
  cut()
  return first
}
