import { readdirSync } from 'node:fs'

const roots = ['packages', 'apps'].flatMap((parent) =>
  readdirSync(new URL(`./${parent}`, import.meta.url)).map((name) => ({ name, root: `${parent}/${name}` })),
)

/** Their test files replace modules or globals, or close the evaluator of a module that they share. */
const isolated = new Set(['cbor', 'console', 'fraud', 'layer1', 'protocol', 'watcher', 'workers'])

/**
 * One vitest project per package: `vitest run --project ledger` runs the tests of one package.
 * Test files share the modules and databases of a vitest worker, which are slow to load.
 */
export default roots.map(({ name, root }) => ({
  extends: true as const,
  test: { name, root, isolate: isolated.has(name), include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
}))
