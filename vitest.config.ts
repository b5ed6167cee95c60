import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import projects from './vitest.workspace.ts'

export default defineConfig({
  test: {
    projects,
    passWithNoTests: false,
    globalSetup: fileURLToPath(new URL('scripts/vitest-schemas.mjs', import.meta.url)),
    setupFiles: [fileURLToPath(new URL('scripts/vitest-processor-time.mjs', import.meta.url))],
    // Compiled packages are loaded by Node.js itself, once in each worker.
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    // Starting PGlite or compiling every validator takes long on a busy machine; waits in tests have bounds
    // of their own.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 120_000 } },
    // By default, V8 optimises PGlite for a second and more, which no test lives long enough to gain from.
    execArgv: ['--enable-source-maps', '--wasm-tiering-budget=60000000'],
    // One more than the processors: many tests only wait for databases and blocks.
    maxWorkers: availableParallelism() + 1,
  },
})
