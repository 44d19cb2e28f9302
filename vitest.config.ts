import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { defineConfig } from 'vitest/config'

enableCompileCache()

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'agents/**/*.test.ts'],
    // The soak of .ci/run has the programs of others that these tests need: clients, agents, PostgreSQL, a browser,
    // the installers of packages.
    exclude: [
      'test/soak/**',
      'test/conformance/**',
      'test/{app,store}/postgres.test.ts',
      'test/runner/{hostile,mcpb,npm,oci,pypi}.test.ts',
      'test/transports/page/browser*.test.ts',
    ],
    globalSetup: 'test/support/memory-folder.ts',
    testTimeout: 30_000,
    // Files share the modules of their worker, which hold no state: importing a gateway takes longer than most tests.
    isolate: false,
    // For the threads and processes that tests start.
    env: { NODE_COMPILE_CACHE: getCompileCacheDir() ?? '' },
    // Most files wait for processes and timers rather than compute.
    maxWorkers: 4,
  },
})
