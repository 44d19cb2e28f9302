import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { defineConfig } from 'vitest/config'

enableCompileCache()

/** How the tests run that need no program of others. */
export const ownTests = {
  globalSetup: 'test/support/memory-folder.ts',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // On a busy machine, what is waited for takes longer than the second that is the default.
  expect: { poll: { timeout: 15_000 } },
  // A list that differs is shown whole in the line that sums up a failure.
  chaiConfig: { truncateThreshold: 400 },
  // Files share the modules of their worker, which hold no state: importing a gateway takes longer than most tests.
  isolate: false,
  // For the threads and processes that tests start.
  env: { NODE_COMPILE_CACHE: getCompileCacheDir() ?? '' },
  // Most files wait for processes and timers rather than compute.
  maxWorkers: 6,
}

/** The programs of others that these tests need are at hand in .ci/run: clients, agents, PostgreSQL, Elasticsearch, a browser, the installers of packages. */
export const needingOthers = [
  'test/conformance/**/*.test.ts',
  'test/{app,store}/postgres.test.ts',
  'test/search/elasticsearch.test.ts',
  'test/runner/{hostile,mcpb,npm,oci,pypi}.test.ts',
  'test/transports/page/browser*.test.ts',
]

/**
 * What takes longest: whole published lists, processes from their start to their end, each fault of each source, models
 * of others.
 */
export const slow = [
  'agents/finance/sources.test.ts',
  'agents/reader/hostile.test.ts',
  'test/app/{broken-files,config,drain,file-modes,sharing,stdio}.test.ts',
  'test/cli/{cli,connect,host-socket,invocation,mistakes,output,running-server,sign-in,start-failures,watch}.test.ts',
  'test/eval/*.test.ts',
  'test/mediawiki/mediawiki.test.ts',
  'test/registry/{capabilities,entry-fields,full-disk,intents,liveness/faults,meaning,names}.test.ts',
  'test/registry/catalog/round-trip.test.ts',
  'test/registry/federation/federation.test.ts',
  'test/registry/install/{lines.properties,official}.test.ts',
  'test/registry/mirror/{hostile-sources,mcp-registry}.test.ts',
  'test/remote/{faults,hostile-agents,mcp-leaks,mcp-questions,packages,upstream-attacks}.test.ts',
  'test/runner/{start,unsandboxed}.test.ts',
  'test/search/embedders/static/shipped-table.test.ts',
  'test/search/embedders/transformers/*.test.ts',
  'test/search/real-entries.test.ts',
  'test/search/vectors/parts.test.ts',
  'test/transports/{entry-size,mcp-models,oauth-attacks,playground,upstream}.test.ts',
  'test/transports/page/readme.test.ts',
]

/** What takes long even with a quarter of its rounds. */
export const inRounds = ['test/search/memory-index.properties.test.ts', 'test/search/vectors/memory.test.ts']

/** Milliseconds that a slow test may take. */
export const slowTimeout = 600_000

/** True if the command names files: then it runs these, whatever they need and however long they take. */
const namesFiles = process.argv.some((argument) => argument.endsWith('.test.ts'))

export default defineConfig({
  test: {
    ...ownTests,
    ...(namesFiles && { testTimeout: slowTimeout }),
    include: ['test/**/*.test.ts', 'agents/**/*.test.ts'],
    exclude: ['test/soak/**', ...(namesFiles ? [] : [...needingOthers, ...slow, ...inRounds])],
  },
})
