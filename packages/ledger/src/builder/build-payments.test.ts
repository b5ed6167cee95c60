import { CborWriter, toHex } from '@ratatosk/cbor'
import { afterAll, expect, it } from 'vitest'
import {
  blake2b256,
  outputReferenceKey,
  profileLimits,
  scriptHash,
  type Utxo,
  validate,
  validateProfile,
  validateProfileOfInputs,
} from '../index.js'
import { buildPayments } from './build-payments.js'
import { toOutput } from './encode-output.js'
import { evaluator, keys, parameters } from './test/fixtures.js'
import type { BuildContext, BuiltTransaction, DraftOutput } from './types.js'

afterAll(() => evaluator.close())

const receiver = Uint8Array.of(0x60, ...new Uint8Array(28).fill(7))
const policy = toHex(
  scriptHash('native', new CborWriter().array(2).uint(0).bytes(keys.payment.hash).toBytes()),
)

let made = 0
function utxo(lovelace: bigint, assets: ReadonlyMap<string, ReadonlyMap<string, bigint>> = new Map()): Utxo {
  return {
    reference: { transactionId: blake2b256(Buffer.from(`${made++}`)), index: 0 },
    output: toOutput({ address: keys.address.bytes, value: { lovelace, assets }, datum: { kind: 'none' } }),
  }
}

const context = (funds: readonly Utxo[]): BuildContext => ({
  funds,
  changeAddress: keys.address.bytes,
  signers: [keys.payment],
  parameters,
  slots: { zeroTime: 0n, zeroSlot: 0n, slotLength: 1000 },
  slot: 1000n,
  networkId: 0,
})

const to = (count: number, lovelace: bigint): readonly DraftOutput[] =>
  Array.from({ length: count }, (_, n) => ({ address: receiver, lovelace: lovelace + BigInt(n) }))

/** Applies the transactions one after the other by the rules of layer 2; returns what is left. */
async function applied(funds: readonly Utxo[], transactions: readonly BuiltTransaction[]) {
  const unspent = new Map(funds.map(({ reference, output }) => [outputReferenceKey(reference), output]))
  for (const { transaction, spent, produced } of transactions) {
    const { slot, networkId } = context([])
    expect(await validate(transaction, unspent, { parameters, networkId, slot })).toEqual([])
    expect(validateProfile(transaction)).toEqual([])
    expect(validateProfileOfInputs(transaction, unspent)).toEqual([])
    for (const { reference } of spent) unspent.delete(outputReferenceKey(reference))
    for (const { reference, output } of produced) unspent.set(outputReferenceKey(reference), output)
  }
  return [...unspent.values()]
}

const received = (outputs: Awaited<ReturnType<typeof applied>>) =>
  outputs
    .filter(({ address }) => Buffer.from(address.bytes).equals(receiver))
    .map(({ value }) => value.lovelace)
    .sort((one, other) => Number(one - other))

it('builds one transaction where one is enough', async () => {
  const funds = [utxo(10_000_000n)]
  const { transactions, reasons } = await buildPayments({ outputs: to(3, 2_000_000n) }, context(funds))
  expect(reasons).toEqual([])
  expect(transactions).toHaveLength(1)
  expect(received(await applied(funds, transactions))).toEqual([2_000_000n, 2_000_001n, 2_000_002n])
})

it('pays 150 people from one output by a chain, and says why', async () => {
  const funds = [utxo(1_000_000_000n)]
  const outputs = to(150, 2_000_000n)
  const { transactions, reasons } = await buildPayments({ outputs }, context(funds))
  expect(reasons).toContainEqual(
    expect.objectContaining({
      predicate: 'TooManyOutputs',
      details: { count: 151, maximum: profileLimits.outputs },
    }),
  )
  expect(transactions).toHaveLength(4)
  expect(received(await applied(funds, transactions))).toEqual(outputs.map(({ lovelace }) => lovelace))
})

it.each([
  ['in one payment', to(1, 390_000_000n), 5],
  ['in many payments', to(150, 2_500_000n), 8],
  ['to the wallet itself', to(100, 3_000_000n).map((each) => ({ ...each, address: keys.address.bytes })), 6],
])('pays from 200 small outputs, %s', async (_, outputs, most) => {
  const funds = Array.from({ length: 200 }, () => utxo(2_000_000n))
  const { transactions, reasons } = await buildPayments({ outputs }, context(funds))
  expect(reasons.map(({ predicate }) => predicate)).toContain('TooManyInputs')
  expect(transactions.length).toBeLessThanOrEqual(most)
  const left = await applied(funds, transactions)
  const lovelace = left.map(({ value }) => value.lovelace)
  for (const output of outputs) expect(lovelace).toContain(output.lovelace)
})

it('collects a token from 200 outputs', async () => {
  const token = (quantity: bigint) => new Map([[policy, new Map([['aa', quantity]])]])
  const funds = Array.from({ length: 200 }, () => utxo(1_500_000n, token(1n)))
  const outputs = [{ address: receiver, assets: token(200n) }]
  const { transactions } = await buildPayments({ outputs }, context(funds))
  const [held] = (await applied(funds, transactions)).filter(({ address }) =>
    Buffer.from(address.bytes).equals(receiver),
  )
  expect(held?.value.assets).toEqual(token(200n))
})

it('refuses what fits into no transaction, and what is not affordable', async () => {
  const funds = Array.from({ length: 70 }, () => utxo(10_000_000n))
  const data = new CborWriter().array(240)
  for (let n = 0; n < 240; n++) data.bytes(new Uint8Array(60))
  const large = { address: receiver, datum: { kind: 'inline', data: data.toBytes() } } as const
  const refused = buildPayments({ outputs: [...to(3, 2_000_000n), large] }, context(funds))
  await expect(refused).rejects.toMatchObject({
    code: 'WALLET_TRANSACTION_REFUSED',
    failures: expect.arrayContaining([expect.objectContaining({ predicate: 'TooManyBytes' })]),
  })
  await expect(buildPayments({ outputs: to(500, 2_000_000n) }, context(funds))).rejects.toMatchObject({
    code: 'WALLET_INSUFFICIENT_FUNDS',
  })
})
