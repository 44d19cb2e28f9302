/**
 * Rounds of a property test: a quarter of them in `npm test`, all of them in `npm run soak`, which runs these files too
 * (vitest.soak.config.ts).
 */
export function rounds(all: number): number {
  return process.env.DRAGOMAN_TEST_ROUNDS === 'all' ? all : Math.ceil(all / 4)
}
