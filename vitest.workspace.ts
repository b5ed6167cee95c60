import { readdirSync } from 'node:fs'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/**
 * Their test files share the modules and databases of a vitest worker, which are slow to load. Tests that
 * replace modules need a worker of their own.
 */
const shared = new Set([
  'database',
  'store',
  'ledger-index',
  'queue',
  'roots',
  'sequencer',
  'faucet-payer',
  'follower',
  'contracts',
  'ledger',
])

/** One vitest project per package: `vitest run --project ledger` runs the tests of one package. */
export default roots.map(({ name, root }) => ({
  extends: true as const,
  test: { name, root, isolate: !shared.has(name), include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
}))
