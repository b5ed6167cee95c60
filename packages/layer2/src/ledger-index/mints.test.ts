import type { SharedDriver } from '@ratatosk/database'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf, credential, genesisOf } from './test/transactions.js'
import { backends, createWorld } from './test/world.js'

const mints = 500
const policy = credential(200)

interface Plan {
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly Plan[]
}

/** The rows that all steps of a plan gave. */
function rowsOf({ 'Actual Rows': rows, 'Actual Loops': loops, Plans = [] }: Plan): number {
  return Plans.reduce((sum, each) => sum + rowsOf(each), rows * loops)
}

/** The same database, and the most rows that a step of a statement about mints has read through it. */
function explained(database: SharedDriver): { database: SharedDriver; rows: () => number } {
  let most = 0
  return {
    rows: () => most,
    database: {
      ...database,
      transaction: (work) =>
        database.transaction((transaction) =>
          work({
            ...transaction,
            async run(text, parameters) {
              if (/^\s*SELECT/.test(text) && text.includes('.mints')) {
                const plan = await transaction.run(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, parameters)
                const [row] = plan.rows as readonly { readonly 'QUERY PLAN': readonly { Plan: Plan }[] }[]
                most = Math.max(most, rowsOf(row!['QUERY PLAN'][0]!.Plan))
              }
              return transaction.run(text, parameters)
            },
          }),
        ),
    },
  }
}

for (const backend of backends)
  test.skipIf(backend.missing !== undefined)(
    `what is left of an asset is read, not summed, on ${backend.name}`,
    async () => {
      const world = await createWorld(backend)
      onTestFinished(() => world.close())
      const genesis = genesisOf(
        Array.from({ length: mints }, (_, n) => ({ address: addressOf(n % 7), assets: [[200, 'aa', 2]] })),
      )
      await world.store.applyGenesis(genesis)
      const { database, rows } = explained(world.store.database)
      const index = await world.index(`${world.schema}_index`, { genesis, database })
      await index.caughtUp()
      const quantity = BigInt(2 * mints)
      const name = Buffer.from('aa', 'hex')
      expect(await index.asset(policy, name)).toMatchObject({ quantity, mints })
      expect(await index.asset(policy, name, { sequence: -10n })).toMatchObject({ mints: mints - 9 })
      expect(await index.assets(policy, { offset: 0, limit: 10 })).toMatchObject([{ quantity }])
      expect(rows()).toBeGreaterThan(0)
      expect(rows()).toBeLessThan(30)
    },
  )
