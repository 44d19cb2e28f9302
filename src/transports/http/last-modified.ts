import { LRUCache } from 'lru-cache'

const remembered = 100

/** When a representation, named by its validator, was first given out: no earlier than it came about (RFC 9110 section 8.8.2). */
export function createLastModified(clock: () => number = Date.now): (etag: string) => string {
  const first = new LRUCache<string, string>({ max: remembered })
  return (etag) => {
    const date = first.get(etag) ?? new Date(clock()).toUTCString()
    first.set(etag, date)
    return date
  }
}
