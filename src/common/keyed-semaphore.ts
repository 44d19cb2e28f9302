import { createPlaces, type TakePlace } from './semaphore.ts'

/** Resolves with a place of somebody's own share, as TakePlace does. */
export type TakeShare = (of: string, signal: AbortSignal) => Promise<Disposable>

/** Places for each of many, so that nobody takes all that there are; `full` says what is thrown as in `createPlaces`. */
export function createShares(each: number, longest: number, full: () => Error): TakeShare {
  const holders = new Map<string, { readonly take: TakePlace; count: number }>()
  return async (of, signal) => {
    const holder = holders.get(of) ?? { take: createPlaces(each, longest, full), count: 0 }
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
