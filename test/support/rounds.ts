/**
 * Rounds of a property test, or the size of its input: a quarter in `npm test`, all in `npm run soak`, which runs these
 * files too (vitest.soak.config.ts).
 */
export function rounds(all: number): number {
  return process.env.DRAGOMAN_TEST_ROUNDS === 'all' ? all : Math.ceil(all / 4)
}
