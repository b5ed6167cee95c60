import { CborWriter, toHex } from '@ratatosk/cbor'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
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
import { type BuiltPayments, buildPayments } from './build-payments.js'
import { addAssets, addValue, type Quantities } from './coin-selection.js'
import { toOutput } from './encode.js'
import { isWalletError } from './errors.js'
import { keys, openEvaluator, parameters } from './test/fixtures.js'
import type { BuildContext, BuiltTransaction, DraftOutput } from './types.js'

const evaluator = openEvaluator()
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

/** Numbers from 0 to below 1, the same in each run. */
function steadyRandom(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
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
  random: steadyRandom(),
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

it('pays 250 people from one output by a chain, and says why', async () => {
  const funds = [utxo(1_000_000_000n)]
  const outputs = to(250, 2_000_000n)
  const { transactions, reasons } = await buildPayments({ outputs }, context(funds))
  expect(reasons).toContainEqual(
    expect.objectContaining({
      predicate: 'TooManyOutputs',
      details: { count: 251, maximum: profileLimits.outputs },
    }),
  )
  expect(transactions).toHaveLength(3)
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

it('spends an output that the funds name twice once', async () => {
  const one = utxo(3_000_000n)
  const copies = Array.from({ length: 100 }, () => ({ ...one, reference: { ...one.reference } }))
  await expect(buildPayments({ outputs: to(1, 5_000_000n) }, context(copies))).rejects.toMatchObject({
    code: 'WALLET_INSUFFICIENT_FUNDS',
    missing: new Map([['lovelace', 2_000_000n]]),
  })
  const funds = [utxo(300_000_000n), ...copies]
  const { transactions } = await buildPayments({ outputs: to(100, 2_000_000n) }, context(funds))
  expect(received(await applied(funds, transactions))).toHaveLength(100)
})

const largestQuantity = 2n ** 64n - 1n

/** Assets `from` to `from + count` of one policy. */
const assets = (count: number, quantity: bigint, from = 0) =>
  new Map([
    [policy, new Map(Array.from({ length: count }, (_, n) => [(0x1000 + from + n).toString(16), quantity]))],
  ])

describe('what a stranger sends to a wallet', () => {
  const own = () => Array.from({ length: 200 }, () => utxo(2_000_000n))
  const large = (lovelace = 12_000_000n) => [0, 100, 200].map((from) => utxo(lovelace, assets(100, 1n, from)))

  it.each<[string, readonly Utxo[]]>([
    ['300 assets', large()],
    ['more of a token than one output can hold', [1, 2].map(() => utxo(3_000_000n, assets(1, 2n ** 63n)))],
  ])('prevents no payment: %s', async (_, sent) => {
    const funds = [...own(), ...sent]
    const { transactions } = await buildPayments({ outputs: to(1, 150_000_000n) }, context(funds))
    expect(received(await applied(funds, transactions))).toEqual([150_000_000n])
  })

  it('prevents no payment of a token, of which it is more, among 115 others', async () => {
    const token = (quantity: bigint) => assets(1, quantity)
    const funds = [utxo(3_000_000n, token(10n)), utxo(12_000_000n, assets(116, 20n))]
    const outputs = [{ address: receiver, lovelace: 1_500_000n, assets: token(5n) }]
    const { transactions } = await buildPayments({ outputs }, context(funds))
    expect(received(await applied(funds, transactions))).toEqual([1_500_000n])
  })

  it('prevents no payment where all of it would be more assets than an output is read with', async () => {
    const sent = Array.from({ length: 40 }, (_, n) => utxo(12_000_000n, assets(100, 1n, 100 * n)))
    const funds = [...own(), ...sent]
    const { transactions } = await buildPayments({ outputs: to(1, 300_000_000n) }, context(funds))
    expect(received(await applied(funds, transactions))).toEqual([300_000_000n])
  })

  it('is an error with numbers where the payment needs it', async () => {
    const funds = [1, 2].map(() => utxo(30_000_000n, assets(1, largestQuantity)))
    await expect(buildPayments({ outputs: to(1, 50_000_000n) }, context(funds))).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
      message: expect.stringContaining(
        `hold ${2n * largestQuantity} of ${policy}1000, at most ${largestQuantity}`,
      ),
    })
    const refused = buildPayments(
      { outputs: to(1, 432_000_000n) },
      context([...own(), ...large(30_000_000n)]),
    )
    await expect(refused).rejects.toMatchObject({
      code: 'WALLET_TRANSACTION_REFUSED',
      failures: expect.arrayContaining([expect.objectContaining({ predicate: 'TooManyItems' })]),
    })
  })
})

const lovelaceOf = fc.bigInt(1_000_000n, 6_000_000n)
const quantityOf = fc.constantFrom(1n, 7n, 2n ** 63n, largestQuantity)
const assetCount = fc.constantFrom(0, 0, 1, 3, 40, 100)

/** Outputs that are alike, with assets of all or of few groups. */
const wallets = fc.array(
  fc.record({
    count: fc.nat(60),
    lovelace: lovelaceOf,
    assets: fc.record({ count: assetCount, quantity: quantityOf, from: fc.nat(200) }),
  }),
  { maxLength: 4 },
)
const orders = fc.array(
  fc.record({
    count: fc.nat(50),
    lovelace: lovelaceOf,
    quantity: quantityOf,
    names: fc.nat(2),
    from: fc.nat(200),
  }),
  { maxLength: 3 },
)

type Sample<Arbitrary> = Arbitrary extends fc.Arbitrary<infer T> ? T : never

const walletOf = (groups: Sample<typeof wallets>): Utxo[] =>
  groups.flatMap(({ count, lovelace, assets: { count: names, quantity, from } }) =>
    // Each holds what the ledger asks for.
    Array.from({ length: names > 1 ? Math.ceil(count / 20) : count }, () =>
      utxo(lovelace + BigInt(names) * 200_000n, names === 0 ? new Map() : assets(names, quantity, from)),
    ),
  )

/** All that outputs hold. */
function sumOf(outputs: readonly Utxo['output'][]): Quantities {
  const sum: Quantities = new Map()
  for (const { value } of outputs) addValue(sum, value)
  return sum
}

/** Checks that a chain pays each output, in order, and that nothing is lost but fees. */
async function expectPaid(funds: readonly Utxo[], outputs: readonly DraftOutput[], built: BuiltPayments) {
  const left = await applied(funds, built.transactions)
  const paid = built.transactions.flatMap(({ produced, payments }) => produced.slice(0, payments))
  expect(paid.map(({ output }) => output.value.lovelace)).toEqual(outputs.map(({ lovelace }) => lovelace))
  outputs.forEach(({ assets: asked = new Map() }, index) => {
    const difference: Quantities = new Map()
    addAssets(difference, asked)
    addAssets(difference, paid[index]?.output.value.assets ?? new Map(), -1n)
    expect([...difference]).toEqual([])
  })
  expect(received(left)).toHaveLength(outputs.length)
  const after = sumOf(left)
  const fees = built.transactions.reduce((sum, { fee }) => sum + fee, 0n)
  addValue(after, { lovelace: fees, assets: new Map() })
  expect(after).toEqual(sumOf(funds.map(({ output }) => output)))
  expect(built.reasons.length > 0).toBe(built.transactions.length > 1)
}

describe('any wallet and payments', { timeout: 600_000 }, () => {
  it('are a chain that pays all and loses fees only, or an error with numbers', async () => {
    let [chains, errors] = [0, 0]
    const property = async (groups: Sample<typeof wallets>, asked: Sample<typeof orders>) => {
      const funds = walletOf(groups)
      const outputs = asked.flatMap(({ count, lovelace, quantity, names, from }) =>
        Array.from({ length: count }, () => ({
          address: receiver,
          lovelace: lovelace + 200_000n,
          assets: names === 0 ? new Map() : assets(names, quantity, from),
        })),
      )
      try {
        await expectPaid(funds, outputs, await buildPayments({ outputs }, context(funds)))
        chains++
      } catch (error) {
        if (!isWalletError(error)) throw error
        expect(error.code).toMatch(/^WALLET_(INSUFFICIENT_FUNDS|TRANSACTION_REFUSED)$/)
        expect(error.message).toMatch(/\d/)
        for (const amount of error.missing?.values() ?? []) expect(amount > 0n).toBe(true)
        errors++
      }
    }
    await fc.assert(fc.asyncProperty(wallets, orders, property), { numRuns: 60, seed: 0 })
    expect(Math.min(chains, errors)).toBeGreaterThan(5)
  })

  it('are a chain if the ada of outputs without assets suffices, whatever else is there', async () => {
    const property = async (own: readonly bigint[], sent: Sample<typeof wallets>, part: number) => {
      const pure = own.map((lovelace) => utxo(lovelace))
      const funds = [...walletOf(sent), ...pure]
      // A transaction joins 60 outputs or makes 40 payments, and costs less than an ada.
      const costs = 3 + Math.ceil(own.length / 50) + Math.ceil(own.length / 30)
      const available = Number(own.reduce((sum, each) => sum + each, 0n)) / 1_000_000 - costs
      const outputs = to(Math.floor((Math.max(0, available) * part) / 2), 1_990_000n)
      await expectPaid(funds, outputs, await buildPayments({ outputs }, context(funds)))
    }
    const own = fc.array(lovelaceOf, { minLength: 1, maxLength: 150, size: 'max' })
    const parts = fc.constantFrom(0.2, 0.5, 0.9, 1)
    await fc.assert(fc.asyncProperty(own, wallets, parts, property), { numRuns: 40, seed: 0 })
  })
})
