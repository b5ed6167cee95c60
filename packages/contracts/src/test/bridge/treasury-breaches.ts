import { leastMerged } from '../../layout.js'
import { type Breach, breach } from '../breach.js'
import { genesis } from '../queue/scenarios.js'
import type { TestInput, TestOutput, TestTransaction } from '../transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  foreign,
  foreignScript,
  reserveMin,
  type World,
  wallet,
} from '../world.js'
import {
  bridgedTokens,
  deposited,
  follow,
  payAssets,
  payFromDeposits,
  payOne,
  reserve,
  reservePlace,
  settled,
  settlement,
  settlementName,
  tidy,
  tidyReserves,
  withdrawal,
  withOutput,
} from './scenarios.js'

const extra = foreign(Uint8Array.of(1))

/** The transaction with another input that follows the one at index 1. */
const withInput = (transaction: TestTransaction, output: TestOutput): TestTransaction => {
  const input: TestInput = { id: 90, output, redeemer: follow(1) }
  return { ...transaction, inputs: [...transaction.inputs, input] }
}

/** The transaction with another reserve behind its outputs. */
const withReserve = (transaction: TestTransaction, output: TestOutput): TestTransaction => ({
  ...transaction,
  outputs: [...transaction.outputs, output],
})

/** The transaction whose first output, a reserve, holds ten ada more. */
const withLarger = (transaction: TestTransaction): TestTransaction =>
  withOutput(transaction, 0, ({ lovelace }) => ({ lovelace: lovelace + ada(10) }))

/** The transaction with a reserve that is split in two. */
const splitting = (transaction: TestTransaction, place: number): TestTransaction => {
  const held = transaction.outputs[place]!
  const part = { ...held, lovelace: reserveMin, tokens: [] }
  return withReserve(changeOutput(transaction, place, { lovelace: held.lovelace - reserveMin }), part)
}

/** The transaction whose treasury holds a token that burns. */
const burning = (transaction: TestTransaction, id: number): TestTransaction => ({
  ...transaction,
  inputs: transaction.inputs.map((input) =>
    input.id === id
      ? { ...input, output: { ...input.output, tokens: [...(input.output.tokens ?? []), extra] } }
      : input,
  ),
  mint: [...transaction.mint, { ...extra, quantity: -1n }],
  nativeScripts: [foreignScript],
})

const confirmedBreaches: readonly Breach[] = [
  breach('treasury-is-confirmed', 'the deposit is of a later block', (world) =>
    withReserve(withInput(payOne(world), deposited(world, { time: settled })), reserve(world, ada(10))),
  ),
  breach('treasury-is-confirmed', 'a second settlement is spent', (world) =>
    withReserve(
      withInput(payOne(world), settlement(world, new Uint8Array(32), { name: new Uint8Array(28).fill(1) })),
      reserve(world, ada(10)),
    ),
  ),
  breach('treasury-is-confirmed', 'an equal settlement is spent, of a queue that began again', (world) => {
    const transaction = payOne(world)
    const [, own] = transaction.inputs
    return withReserve(withInput(transaction, own!.output), reserve(world, ada(10)))
  }),
  breach('treasury-is-confirmed', 'the deposits are of the next block', (world) =>
    tidy(world, 2, genesis.endTime),
  ),
  breach('treasury-is-confirmed', 'a reserve is spent beside deposits', (world) =>
    withLarger(withInput(tidy(world, leastMerged), reserve(world, ada(10)))),
  ),
  ...([tidy, tidyReserves] as const).map((scenario) =>
    breach('treasury-is-confirmed', `a settlement is spent beside others (${scenario.name})`, (world) =>
      withLarger(
        withInput(
          scenario(world, leastMerged),
          settlement(world, new Uint8Array(32), { name: settlementName, time: genesis.endTime - 1n }),
        ),
      ),
    ),
  ),
  breach('treasury-is-confirmed', 'a reserve leads, and a deposit is of the next block', (world) =>
    withLarger(withInput(tidyReserves(world), deposited(world, { time: genesis.endTime }))),
  ),
  breach('tidy-many', 'two reserves are merged', (world) => tidyReserves(world, 2)),
  breach('tidy-many', 'a reserve leads one output too few', (world) => tidyReserves(world, leastMerged - 1)),
]

const countBreaches: readonly Breach[] = [
  breach('reserve-count', 'tidying splits a deposit', (world) => splitting(tidy(world, 1), 0)),
  breach('reserve-count', 'tidying makes as many reserves as it takes deposits', (world) =>
    splitting(tidy(world, 2), 0),
  ),
  breach('reserve-count', 'tidying makes two of many reserves', (world) => splitting(tidyReserves(world), 0)),
  breach('reserve-count', 'a payout splits a reserve', (world) => splitting(payOne(world), reservePlace)),
  breach('reserve-count', 'a payout makes a reserve, and takes nothing of the treasury', (world) => {
    const transaction = payOne(world)
    return { ...transaction, inputs: transaction.inputs.filter(({ id }) => id !== 10) }
  }),
]

const reserveBreaches: readonly Breach[] = (
  [
    ['a payout', payOne, reservePlace],
    ['tidying', (world: World) => tidy(world), 0],
  ] as const
).flatMap(([what, scenario, place]) => [
  breach('treasury-mints-nothing', `${what} burns an asset of the treasury`, (world) =>
    burning(scenario(world), what === 'tidying' ? 2 : 10),
  ),
  breach('treasury-balances', `${what} keeps a lovelace of the treasury`, (world) =>
    withOutput(scenario(world), place, ({ lovelace }) => ({ lovelace: lovelace - 1n })),
  ),
  breach('treasury-balances', `${what} pays the reserve to a wallet`, (world) =>
    changeOutput(scenario(world), place, wallet(ada(20))),
  ),
  breach('reserve-address', `${what} makes a reserve with a staking part`, (world) =>
    changeOutput(scenario(world), place, { address: world.bridge.stakedAddress }),
  ),
  breach('reserve-no-datum', `${what} makes a deposit’s output of a reserve`, (world) =>
    changeOutput(scenario(world), place, { datum: deposited(world).datum! }),
  ),
  breach('reserve-no-datum', `${what} makes a reserve that no one can spend`, (world) =>
    changeOutput(scenario(world), place, { datumHash: new Uint8Array(32) }),
  ),
  breach('reserve-no-script', `${what} makes a reserve with a script`, (world) =>
    changeOutput(scenario(world), place, { script: world.events.script }),
  ),
])

/** Breaches of the rules of what a transaction takes from the treasury and gives back. */
export const treasuryBreaches: readonly Breach[] = [
  ...confirmedBreaches,
  ...reserveBreaches,
  ...countBreaches,
  breach('reserve-ada', 'a payout splits off a small reserve', (world) => {
    const small = reserve(world, reserveMin - 1n)
    const transaction = withOutput(payFromDeposits(world), reservePlace, ({ lovelace }) => ({
      lovelace: lovelace - small.lovelace,
    }))
    return withReserve(transaction, small)
  }),
  breach('reserve-ada', 'tidying makes a small reserve', (world) => {
    const lovelace = reserveMin - 1n
    return changeOutput(changeInput(tidy(world, 1), 2, { lovelace }), 0, { lovelace })
  }),
  breach('treasury-keeps-assets', 'assets of the treasury go to a wallet', (world) =>
    withOutput(payAssets(world), 4, () => ({ tokens: [bridgedTokens(1)[0]!] })),
  ),
  breach('treasury-keeps-assets', 'an event token goes to a wallet', (world) => {
    const transaction = payFromDeposits(world)
    const [kept, ...burned] = transaction.mint
    return {
      ...withOutput(transaction, 3, () => ({ tokens: [{ ...kept!, quantity: 1n }] })),
      mint: burned,
    }
  }),
  breach('treasury-keeps-assets', 'a token of a tidied deposit goes to a wallet', (world) => {
    const transaction = tidy(world)
    const [kept, ...burned] = transaction.mint
    return { ...withOutput(transaction, 1, () => ({ tokens: [{ ...kept!, quantity: 1n }] })), mint: burned }
  }),
]

/** A payout that leaves the tokens of the deposits that it spends with its reserve. */
export const payAndKeepTokens = (world: World): TestTransaction => {
  const transaction = payFromDeposits(world)
  const tokens = transaction.mint.map((token) => ({ ...token, quantity: 1n }))
  return { ...changeOutput(transaction, reservePlace, { tokens }), mint: [], mintRedeemers: [] }
}

/** A payout that makes two reserves of the three outputs that it takes. */
export const payAndSplit = (world: World): TestTransaction => splitting(payFromDeposits(world), reservePlace)

/** A payout of an output whose payer adds to the payment. */
export const payMore = (world: World): TestTransaction => {
  const { paid } = withdrawal(world, 1)
  return changeOutput(payOne(world), 1, { lovelace: paid.lovelace + ada(1) })
}
