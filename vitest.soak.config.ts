import { defineConfig } from 'vitest/config'
import { inRounds, needingOthers, ownTests, slow, slowTimeout as testTimeout } from './vitest.config.ts'

/** Most files wait for processes that they started. */
const maxWorkers = 4
/** It replaces a module that other files use. */
const translated = 'test/transports/page/browser-translated.test.ts'
/** What many hours, calls, agents or damages show: one round shows little of it. And what a release alone needs. */
const loads = [
  'elasticsearch-failover',
  'faulty-agents',
  'lance-damage',
  'long-streams',
  'million',
  'reconnects',
  'release',
  'retention',
].map((name) => `test/soak/${name}.test.ts`)
/** What compares times, which a busy machine makes of no use. */
const times = ['hostile', 'others-stay-fast'].map((name) => `test/soak/alone/${name}.test.ts`)
const alone = { testTimeout, maxWorkers: 1, sequence: { groupOrder: 1 } }
const together = { maxWorkers, testTimeout, sequence: { groupOrder: 0 } }

export default defineConfig({
  test: {
    hookTimeout: 60_000,
    expect: ownTests.expect,
    maxWorkers,
    projects: [
      {
        extends: true,
        test: { ...together, name: 'together', include: ['test/soak/*.test.ts', translated], exclude: loads },
      },
      // `.ci/run` leaves out what begins with `long`.
      { extends: true, test: { ...together, name: 'long-loads', include: loads } },
      {
        extends: true,
        test: {
          ...ownTests,
          ...together,
          name: 'slow',
          include: [...slow, ...needingOthers, ...inRounds],
          exclude: [translated],
        },
      },
      // All rounds of the files of which other projects run a quarter.
      {
        extends: true,
        test: {
          ...together,
          name: 'long-rounds',
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
        },
      },
      // What measures time has the machine to itself.
      {
        extends: true,
        test: { ...alone, name: 'alone', include: ['test/soak/alone/**/*.test.ts'], exclude: times },
      },
      { extends: true, test: { ...alone, name: 'long-alone', include: times } },
    ],
  },
})
