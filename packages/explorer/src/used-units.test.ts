import { CborWriter } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import type { RedeemerReport } from '@ratatosk/ports'
import { afterEach, expect, test, vi } from 'vitest'
import { keyOf } from './test/ports.js'
import { createUsedUnits } from './transactions.js'

const declared = { memory: 9n, steps: 9n }
const used = { memory: 1n, steps: 2n }
const spent = { transactionId: new Uint8Array(32), index: 3 }
const output = new CborWriter().array(2).bytes(keyOf('a').address).uint(10).toBytes()
const found = [{ ...spent, sequence: 1n, output }]

/** A transaction that spends one output by a script. */
const transaction = decodeTransaction(
  new CborWriter()
    .array(4)
    .map(3)
    .uint(0)
    .array(1)
    .array(2)
    .bytes(spent.transactionId)
    .uint(spent.index)
    .uint(1)
    .array(0)
    .uint(2)
    .uint(5)
    .map(1)
    .uint(5)
    .array(1)
    .array(4)
    .uint(0)
    .uint(0)
    .uint(42)
    .array(2)
    .uint(9)
    .uint(9)
    .boolean(true)
    .null()
    .toBytes(),
)

function report(outcome: RedeemerReport['outcome']): { readonly redeemers: readonly RedeemerReport[] } {
  return { redeemers: [{ purpose: 'spend', index: 0, declared, outcome }] }
}
const spend = { purpose: 'spend', index: 0 }

afterEach(() => void vi.useRealTimers())

test('scripts run once with the outputs of the transaction, also for readers at once', async () => {
  const seen: string[][] = []
  const usedUnits = createUsedUnits(async (_, outputs) => {
    seen.push([...(outputs as ReadonlyMap<string, unknown>).keys()])
    return report({ kind: 'Succeeded', used })
  })
  const both = await Promise.all([usedUnits(transaction, found), usedUnits(transaction, found)])
  expect(both.map((unitsOf) => unitsOf(spend))).toEqual([used, used])
  expect((await usedUnits(transaction, found))(spend)).toEqual(used)
  expect((await usedUnits(transaction, found))({ purpose: 'mint', index: 0 })).toBeUndefined()
  expect(seen).toEqual([[`${'00'.repeat(32)}#3`]])
})

test('a script that failed has no used units', async () => {
  const usedUnits = createUsedUnits(async () => report({ kind: 'BudgetExceeded', used, message: '' }))
  expect((await usedUnits(transaction, found))(spend)).toBeUndefined()
})

test('without an output that it spends, no script runs', async () => {
  const runScripts = vi.fn(async () => report({ kind: 'Succeeded', used }))
  expect((await createUsedUnits(runScripts)(transaction, []))(spend)).toBeUndefined()
  expect(runScripts).not.toHaveBeenCalled()
})

test('a refusal is not kept, and a slow script does not keep the answer back', async () => {
  vi.useFakeTimers()
  const runs = [Promise.reject(new Error('busy')), new Promise<never>(() => undefined)]
  const usedUnits = createUsedUnits(() => runs.shift() ?? Promise.reject(new Error('once more')))
  expect((await usedUnits(transaction, found))(spend)).toBeUndefined()
  const slow = usedUnits(transaction, found)
  await vi.advanceTimersByTimeAsync(2_000)
  expect((await slow)(spend)).toBeUndefined()
  expect(runs).toHaveLength(0)
})
