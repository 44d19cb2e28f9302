import { defineConfig } from 'vitest/config'
import { needingOthers, ownTests, slow } from './vitest.config.ts'

/** Most files wait for processes that they started. */
const maxWorkers = 4

export default defineConfig({
  test: {
    testTimeout: 600_000,
    hookTimeout: 60_000,
    maxWorkers,
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/soak/*.test.ts', ...needingOthers],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { ...ownTests, maxWorkers, name: 'slow', include: slow, sequence: { groupOrder: 0 } },
      },
      // The files that `npm test` runs with a quarter of their rounds.
      {
        extends: true,
        test: {
          name: 'rounds',
          include: [
            'agents/reader/html-to-markdown/html/prefilter.test.ts',
            'test/app/callers.test.ts',
            'test/net/byte-buffer.test.ts',
            'test/registry/ownership.test.ts',
            'test/remote/json-schema.test.ts',
            'test/search/memory-index.properties.test.ts',
            'test/search/saved.test.ts',
            'test/search/embedders/static/word-piece.test.ts',
            'test/search/vectors/**/*.test.ts',
            'test/transports/mcp-differential.test.ts',
          ],
          env: { DRAGOMAN_TEST_ROUNDS: 'all' },
          sequence: { groupOrder: 0 },
        },
      },
      // What measures time has the machine to itself.
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/soak/alone/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
