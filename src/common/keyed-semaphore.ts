import { type Acquire, createSemaphore } from './semaphore.ts'

/** Resolves with a place of somebody's own share, as TakePlace does. */
export type AcquireKeyed = (of: string, signal: AbortSignal) => Promise<Disposable>

/** Places for each of many, so that nobody takes all that there are; `full` says what is thrown as in `createPlaces`. */
export function createKeyedSemaphore(each: number, longest: number, full: () => Error): AcquireKeyed {
  const holders = new Map<string, { readonly take: Acquire; count: number }>()
  return async (of, signal) => {
    const holder = holders.get(of) ?? { take: createSemaphore(each, longest, full), count: 0 }
    holders.set(of, holder)
    holder.count++
    const leave = () => {
      holder.count--
      if (holder.count === 0) holders.delete(of)
    }
    try {
      const place = await holder.take(signal)
      return {
        [Symbol.dispose]() {
          place[Symbol.dispose]()
          leave()
        },
      }
    } catch (thrown) {
      leave()
      throw thrown
    }
  }
}
