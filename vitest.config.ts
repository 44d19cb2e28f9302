import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'agents/**/*.test.ts'],
    exclude: ['test/soak/**'],
    testTimeout: 15_000,
  },
})
