import { leftAlone } from './circuit.ts'
import { createPlaces, type TakePlace } from './places.ts'

/** Runs something in the name of somebody. */
export type Share = <Value>(of: string, signal: AbortSignal, work: () => Promise<Value>) => Promise<Value>

export interface ShareOptions {
  /** How much each has under way together; the rest waits for its turn. */
  readonly each: number
  /** How much of each may wait; what comes then is refused. */
  readonly waiting: number
  /** What a refusal says of when to come again, in milliseconds. */
  readonly patience_ms: number
}

/** Keeps one from taking all of what many want. Throws Failure `circuit_open`, and what the work throws. */
export function createShares(host: string, { each, waiting, patience_ms }: ShareOptions): Share {
  const holders = new Map<string, { readonly take: TakePlace; count: number }>()
  return async (of, signal, work) => {
    const holder = holders.get(of) ?? { take: createPlaces(each), count: 0 }
    if (holder.count >= each + waiting) throw leftAlone(host, patience_ms)
    holders.set(of, holder)
    holder.count++
    try {
      using _ = await holder.take(signal)
      return await work()
    } finally {
      holder.count--
      if (holder.count === 0) holders.delete(of)
    }
  }
}
