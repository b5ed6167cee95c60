import { readdirSync } from 'node:fs'

/** One vitest project a package, so that `vitest run --project ledger` runs one of them. */
export default readdirSync(new URL('./packages', import.meta.url)).map((name) => ({
  extends: true as const,
  test: { name, root: `packages/${name}`, include: ['src/**/*.test.ts', 'test/**/*.test.ts'] },
}))
