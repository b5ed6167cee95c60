import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerOutput } from '@ratatosk/store'
import { openStore } from '@ratatosk/store'
import { acceptedOf, createPGlite, fundsOf, keyOf, randomName, signed } from '@ratatosk/test-kit'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { openRoots } from './open-roots.js'
import {
  after,
  noEvents,
  type Outputs,
  outputsOfGenesis,
  piecesOf,
  rootOf,
  transactionsRootOf,
} from './test/blocks.js'

const blocksPerRun = 100
const runs = Number(process.env.RATATOSK_ROOTS_RUNS ?? 1)

const pglite = createPGlite()
afterAll(async () => (await pglite).close())

/** Each pick chooses an unspent output, one made by the same block included. */
interface TransferPlan {
  readonly picks: readonly number[]
  readonly outputs: number
}

interface BlockPlan {
  readonly transfers: readonly TransferPlan[]
  /** How many blocks are undone and applied again after this one. */
  readonly undone: number
}

const transferPlan: fc.Arbitrary<TransferPlan> = fc.record({
  picks: fc.array(fc.nat(100_000), { minLength: 1, maxLength: 3 }),
  outputs: fc.integer({ min: 1, max: 4 }),
})
const blockPlan: fc.Arbitrary<BlockPlan> = fc.record({
  transfers: fc.array(transferPlan, { maxLength: 8 }),
  undone: fc.oneof(
    { arbitrary: fc.constant(0), weight: 5 },
    { arbitrary: fc.integer({ min: 1, max: 4 }), weight: 1 },
  ),
})
const plans = fc.array(blockPlan, { minLength: blocksPerRun, maxLength: blocksPerRun, size: 'max' })

test(`after ${runs * blocksPerRun} random blocks the trie equals one rebuilt from the ledger table`, {
  timeout: 60_000 + runs * 30_000,
}, async () => {
  let blocks = 0
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      await follow(plan)
      blocks += plan.length
    }),
    { numRuns: runs, endOnFailure: true },
  )
  expect(blocks).toBe(runs * blocksPerRun)
})

async function follow(plan: readonly BlockPlan[]): Promise<void> {
  const schema = randomName()
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-roots-'))
  const store = await openStore({ pglite: await pglite, schema })
  const tries = [await openRoots({ history: 4 }), await openRoots({ path: folder, history: 4 })]
  const rebuilt = await openRoots({ history: 0 })
  const each = <T>(work: (roots: (typeof tries)[number]) => Promise<T>) => Promise.all(tries.map(work))

  try {
    const key = keyOf(3)
    const genesis = fundsOf(key, 12, 1_000_000n)
    await store.applyGenesis(genesis)
    let outputs = outputsOfGenesis(genesis)
    await each((roots) => roots.rebuild(piecesOf(outputs.values())))
    const known = [rootOf(outputs)]
    const applied: (readonly Uint8Array[])[] = []

    for (const { transfers, undone } of plan) {
      const block = blockOf(transfers, outputs)
      const transactionsRoot = transactionsRootOf(block, outputs)
      outputs = after(outputs, block)
      await store.withLedger((ledger) => ledger.apply({ transactions: block.map(acceptedOf) }))
      const expected = { utxosRoot: rootOf(outputs), transactionsRoot, ...noEvents }
      expect(await each((roots) => roots.apply(block))).toStrictEqual([expected, expected])
      known.push(expected.utxosRoot)
      applied.push(block)

      const back = Math.min(undone, applied.length)
      if (back === 0) continue
      const before = known.at(-1 - back)!
      expect(await each((roots) => roots.revert(before))).toStrictEqual([true, true])
      expect(await each((roots) => roots.root())).toStrictEqual([before, before])
      for (const again of applied.slice(-back)) await each((roots) => roots.apply(again))
      expect(await each((roots) => roots.root())).toStrictEqual([expected.utxosRoot, expected.utxosRoot])
    }

    const fromTable = await rebuilt.rebuild(ledgerTable(schema))
    expect(await each((roots) => roots.root())).toStrictEqual([fromTable, fromTable])
  } finally {
    await Promise.all([...tries, rebuilt].map((roots) => roots.close()))
    await store.close()
    await (await pglite).exec(`DROP SCHEMA ${schema} CASCADE`)
    await rm(folder, { recursive: true, force: true })
  }
}

/** Also spends what the block itself makes. Where the picks name one output twice, it is spent once. */
function blockOf(plans: readonly TransferPlan[], before: Outputs): Uint8Array[] {
  const key = keyOf(3)
  const block: Uint8Array[] = []
  let outputs = before
  for (const { picks, outputs: count } of plans) {
    const unspent = [...outputs.values()]
    const inputs = [...new Set(picks.map((pick) => unspent[pick % unspent.length]!))]
    const lovelace = Array.from({ length: count }, (_, n) => 1_000_000n + BigInt(n))
    const { cbor } = signed(key, { inputs, outputs: lovelace })
    block.push(cbor)
    outputs = after(outputs, [cbor])
  }
  return block
}

async function* ledgerTable(schema: string): AsyncGenerator<LedgerOutput[]> {
  const { rows } = await (await pglite).query<LedgerOutput>(
    `SELECT transaction_id AS "transactionId", output_index AS index, output FROM ${schema}.mempool_ledger`,
  )
  yield* piecesOf(rows)
}
