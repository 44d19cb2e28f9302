import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'agents/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 30_000,
    // Most files wait for processes and timers rather than compute.
    maxWorkers: 3,
  },
})
