import { readdirSync } from 'node:fs'
import { configDefaults } from 'vitest/config'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/** Their test files replace modules or globals. */
const isolated = new Set(['cbor', 'explorer', 'workers'])

/** `npm run test:full` sets it. */
const full = process.env.RATATOSK_TESTS === 'full'

/** Amounts of the full run, where the environment sets no others; docs/testing.md says what they are. */
const fullAmounts = {
  RATATOSK_AIKEN: '5',
  RATATOSK_ANSWERS: '400',
  RATATOSK_CRASHES: '3',
  RATATOSK_CRASH_ROUNDS: '5',
  RATATOSK_EVALUATE_ALL: '1',
  RATATOSK_FAULTS: 'all',
  RATATOSK_FUZZ: '20000',
  RATATOSK_MUTATED_BLOCKS: '60',
  RATATOSK_MUTATED_TRANSACTIONS: '40',
  RATATOSK_PROOFS: '300',
  RATATOSK_QUESTIONS: '200',
  RATATOSK_RACES: '4',
  RATATOSK_ROLL_BACKS: '2',
  RATATOSK_ROOTS_RUNS: '3',
  RATATOSK_SEARCH_RUNS: '20',
  RATATOSK_STORES: 'all',
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
