// A global setup of vitest: names the run, so that its end drops the schemas which tests have handed on.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'

const testKit = new URL('../packages/test-kit/dist/index.js', import.meta.url)

export function setup() {
  const run = `${randomBytes(4).toString('hex')}_`
  process.env.RATATOSK_TEST_RUN = run
  return async () => {
    // A package of a computer without PostgreSQL may be tested, and one that does not need the test kit.
    if (!existsSync(testKit)) return
    const { dropSchemas, whyMissing } = await import(testKit.href)
    if ((await whyMissing('PostgreSQL')) === undefined) await dropSchemas(run)
  }
}
