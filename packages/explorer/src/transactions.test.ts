import { CborWriter } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { blockAnswers } from './blocks.js'
import { keyOf, options, timedBlock } from './test/ports.js'
import { transactionAnswers } from './transactions.js'

const { address } = keyOf('a')
const reference = { inputs: 1, collateral: 2 }

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
  return writer.map(0).boolean(isValid).null().toBytes()
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

test('spenders are known if the index has every output', async () => {
  expect((await answersOf(true)).answer.spendersKnown).toBe(false)
  expect((await answersOf(true, 1)).answer.spendersKnown).toBe(false)
  expect((await answersOf(true, 2)).answer.spendersKnown).toBe(true)
})
