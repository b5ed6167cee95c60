import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import projects from './vitest.workspace.ts'

export default defineConfig({
  test: {
    projects,
    passWithNoTests: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Vitest leaves a processor free, which of two is half; many tests wait for databases and processes of their own.
    maxWorkers: Math.max(2, availableParallelism()),
  },
})
