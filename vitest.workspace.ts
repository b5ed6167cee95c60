import { existsSync, readdirSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { configDefaults } from 'vitest/config'
import { filesBelow } from './scripts/files.mjs'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/** Their test files replace modules or globals. */
const isolated = new Set(['cbor', 'explorer', 'workers'])
/** And the trie's, which reserve memory for hashing each time. */
const alone = new Set([...isolated, 'trie'])

/** `npm run test:full` sets it. */
const full = process.env.RATATOSK_TESTS === 'full'

/** Amounts of the full run, where the environment sets no others. */
const fullAmounts = {
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
  exclude: [...configDefaults.exclude, ...(full ? [] : ['**/*.full.test.*'])],
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

/** The compiled test files of a package, as paths from here. */
const compiled = ({ root }: { readonly root: string }): string[] => {
  const source = fileURLToPath(new URL(`./${root}/src`, import.meta.url))
  if (!existsSync(source)) return []
  const files: string[] = filesBelow(source, /\.test\.ts$/)
  return files.map((path) => `${root}/dist/${relative(source, path).replace(/\.ts$/, '.js')}`)
}

/**
 * The whole run has the packages that share modules in one project, compiled: a worker loads a module once,
 * by Node.js itself, whether its own package tests it or another uses it.
 */
const together = {
  extends: true as const,
  test: {
    ...shared,
    name: 'packages',
    root: '.',
    isolate: false,
    include: roots.filter(({ name }) => !alone.has(name)).flatMap(compiled),
  },
}

/** `scripts/vitest.mjs` sets it. */
export default process.env.RATATOSK_TOGETHER === '1'
  ? [...perPackage.filter(({ test }) => alone.has(test.name)), together]
  : perPackage
