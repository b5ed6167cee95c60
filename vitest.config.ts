import { defineConfig } from 'vitest/config'
import projects from './vitest.workspace.ts'

export default defineConfig({
  test: {
    projects,
    passWithNoTests: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
