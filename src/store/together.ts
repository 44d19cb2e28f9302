/**
 * What they come to; where any fails, what the first of them threw, once all have ended: nothing of a transaction may
 * go on after its end. Those that a connection can take together go out together.
 */
export async function together<T extends readonly unknown[]>(
  work: {
    readonly [K in keyof T]: Promise<T[K]>
  },
): Promise<{ -readonly [K in keyof T]: T[K] }> {
  await Promise.allSettled(work)
  return (await Promise.all(work)) as { -readonly [K in keyof T]: T[K] }
}
