// A global setup of vitest: names the run, and drops at its end the schemas that its tests have left.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'

const testKit = new URL('../packages/test-kit/dist/index.js', import.meta.url)

export function setup() {
  const run = `${randomBytes(4).toString('hex')}_`
  process.env.RATATOSK_TEST_RUN = run
  return async () => {
    // Tests of a package that needs no test kit run before that is compiled.
    if (!existsSync(testKit)) return
    const { dropSchemas, whyMissing } = await import(testKit.href)
    if ((await whyMissing('PostgreSQL')) === undefined) await dropSchemas(run)
  }
}
