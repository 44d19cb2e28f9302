import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    testTimeout: 600_000,
    projects: [
      {
        extends: true,
        test: { name: 'together', include: ['test/soak/*.test.ts'], sequence: { groupOrder: 0 } },
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
