import { readdirSync } from 'node:fs'
import { configDefaults } from 'vitest/config'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/** Their test files replace modules or globals. */
const isolated = new Set(['cbor', 'explorer', 'workers'])
/** And the trie's, which reserve memory for hashing each time. */
const alone = new Set([...isolated, 'trie'])

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

const tests = ['src/**/*.test.ts', 'test/**/*.test.ts']
const shared = {
  exclude: [...configDefaults.exclude, ...(full ? [] : ['**/*.full.test.ts'])],
  env: full ? { ...fullAmounts, ...process.env } : {},
}

/**
 * One vitest project per package: `vitest run --project ledger` runs the tests of one package.
 * Test files share the modules and databases of a vitest worker, which are slow to load.
 */
const perPackage = roots.map(({ name, root }) => ({
  extends: true as const,
  test: { ...shared, name, root, isolate: isolated.has(name), include: tests },
}))

/** The whole run has the packages that share modules in one project, so that a worker loads these once. */
const together = {
  extends: true as const,
  test: {
    ...shared,
    name: 'packages',
    root: '.',
    isolate: false,
    include: roots
      .filter(({ name }) => !alone.has(name))
      .flatMap(({ root }) => tests.map((each) => `${root}/${each}`)),
  },
}

/** `scripts/vitest.mjs` sets it. */
export default process.env.RATATOSK_TOGETHER === '1'
  ? [...perPackage.filter(({ test }) => alone.has(test.name)), together]
  : perPackage
