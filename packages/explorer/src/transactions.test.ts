import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import type { RedeemerReport } from '@ratatosk/ports'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { blockAnswers } from './blocks.js'
import { keyOf, options, timedBlock } from './test/ports.js'
import { createUsedUnits, transactionAnswers } from './transactions.js'

const { address } = keyOf('a')
const reference = { inputs: 1, collateral: 2 }

/** { 7: { a: 3, b: "3", n: -5, z: 2^60 } } */
const metadata = fromHex('a107a461610361626133616e24617a1b1000000000000000')

/** Two inputs and outputs, a mint, a collateral input with its return. */
function transactionOf(isValid: boolean): Uint8Array {
  const writer = new CborWriter().array(4).map(6)
  const inputs = (key: number, index: number, count: number) => {
    writer.uint(key).array(count)
    for (let at = 0; at < count; at++) writer.array(2).bytes(new Uint8Array(32).fill(at)).uint(index)
  }
  const output = (lovelace: number) => writer.array(2).bytes(address).uint(lovelace)
  inputs(0, reference.inputs, 2)
  writer.uint(1).array(2)
  output(10)
  output(20)
  writer.uint(2).uint(5).uint(9).map(1).bytes(new Uint8Array(28)).map(1).bytes(new Uint8Array(1)).uint(7)
  inputs(13, reference.collateral, 1)
  writer.uint(16)
  output(30)
  return writer.map(0).boolean(isValid).raw(metadata).toBytes()
}

/** The answers about a transaction; of `indexed`, the index has the first outputs. */
async function answersOf(isValid: boolean, indexed?: number) {
  const cbor = transactionOf(isValid)
  const { id } = decodeTransaction(cbor)
  const { index: _, ...rest } = options
  const found = (index: number) => ({ transactionId: id, index, sequence: 1n, output: new Uint8Array() })
  const ports = {
    ...rest,
    reads: { ...rest.reads, block: async () => timedBlock(1n, 1) },
    ledger: {
      ...rest.ledger,
      placeOf: async () => ({ acceptedAt: new Date(0), sequence: 1n }),
      transaction: async () => cbor,
      transactionsOf: async () => [{ id, cbor }],
    },
    ...(indexed !== undefined && {
      index: {
        ...options.index,
        outputs: async ({ transaction }: { transaction?: Uint8Array }) =>
          transaction === undefined
            ? []
            : Array.from({ length: indexed }, (_, at) => found(isValid ? at : 2)),
      },
    }),
  }
  const blocks = blockAnswers(ports)
  const { transactions } = await blocks.details({ id: 1n, text: '1' }, { offset: 0, limit: 1 })
  return { answer: await transactionAnswers(ports, blocks).transaction(id), listed: transactions[0] }
}

test('a transaction makes its outputs and its mint', async () => {
  const { answer, listed } = await answersOf(true)
  expect(answer.outputs.map(({ outref }) => outref.slice(64))).toEqual(['#0', '#1'])
  expect(answer.mint).toMatchObject([{ quantity: '7' }])
  expect(listed).toMatchObject({ inputs: 2, outputs: 2, valid: true })
})

test('a transaction whose scripts failed makes only the return of its collateral', async () => {
  const { answer, listed } = await answersOf(false, 1)
  expect(answer.outputs).toMatchObject([
    { outref: `${answer.hash}#2`, amount: [{ unit: 'lovelace', quantity: '30' }] },
  ])
  expect(answer).toMatchObject({ mint: [], valid: false, spendersKnown: true })
  expect(listed).toMatchObject({ inputs: 1, outputs: 1, valid: false })
})

test('metadata has numbers where they are exact', async () => {
  const { answer } = await answersOf(true)
  expect(answer.metadata).toEqual([{ label: '7', json: { a: 3, b: '3', n: -5, z: '1152921504606846976' } }])
})

test('spenders are known if the index has every output', async () => {
  expect((await answersOf(true)).answer.spendersKnown).toBe(false)
  expect((await answersOf(true, 1)).answer.spendersKnown).toBe(false)
  expect((await answersOf(true, 2)).answer.spendersKnown).toBe(true)
})

describe('used units', () => {
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

  test('a result that does not fit is thrown', async () => {
    const usedUnits = createUsedUnits((async () => ({ redeemers: [{ units: 1 }] })) as never)
    await expect(usedUnits(transaction, found)).rejects.toThrow('runScripts() must resolve to { redeemers }')
  })
})
