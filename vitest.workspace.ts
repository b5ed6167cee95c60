import { readdirSync } from 'node:fs'
import { configDefaults } from 'vitest/config'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/** Their test files replace modules or globals. */
const isolated = new Set(['cbor', 'console', 'workers'])

/** `npm run test:full` sets it. */
const full = process.env.RATATOSK_TESTS === 'full'

/** Amounts of the full run, where the environment sets no others; docs/testing.md says what they are. */
const fullAmounts = {
  RATATOSK_AIKEN: '5',
  RATATOSK_STORES: 'all',
  RATATOSK_FAULTS: 'all',
  RATATOSK_PROOFS: '300',
  RATATOSK_SEARCH_RUNS: '20',
}

/**
 * One vitest project per package: `vitest run --project ledger` runs the tests of one package.
 * Test files share the modules and databases of a vitest worker, which are slow to load.
 */
export default roots.map(({ name, root }) => ({
  extends: true as const,
  test: {
    name,
    root,
    isolate: isolated.has(name),
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(full ? [] : ['**/*.full.test.ts'])],
    env: full ? { ...fullAmounts, ...process.env } : {},
  },
}))
