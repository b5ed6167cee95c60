import { type Breach, breach } from '../breach.js'
import { genesis } from '../queue/scenarios.js'
import type { TestInput, TestOutput, TestTransaction } from '../transaction.js'
import { ada, changeOutput, foreign, foreignScript, reserveMin, type World, wallet } from '../world.js'
import {
  bridgedTokens,
  change,
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
    withReserve(withInput(tidy(world), reserve(world, ada(10))), reserve(world, ada(10))),
  ),
  breach('treasury-is-confirmed', 'a reserve leads, and merges all', (world) => {
    const transaction = tidy(world)
    return {
      ...transaction,
      inputs: transaction.inputs.map((input) =>
        input.redeemer ? { ...input, output: reserve(world, ada(10)) } : input,
      ),
      mint: [],
      mintRedeemers: [],
    }
  }),
  breach('treasury-is-confirmed', 'a settlement is spent beside deposits', (world) =>
    withReserve(
      withInput(
        tidy(world),
        settlement(world, new Uint8Array(32), { name: settlementName, time: genesis.endTime - 1n }),
      ),
      reserve(world, ada(10)),
    ),
  ),
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
  breach('reserve-ada', 'a payout splits off a small reserve', (world) => {
    const small = reserve(world, reserveMin - 1n)
    const transaction = changeOutput(payOne(world), reservePlace, { lovelace: change - small.lovelace })
    return withReserve(transaction, small)
  }),
  breach('reserve-ada', 'tidying makes a small reserve', (world) => {
    const small = reserve(world, reserveMin - 1n)
    return withReserve(changeOutput(tidy(world), 0, { lovelace: ada(20) - small.lovelace }), small)
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

/** A payout that splits the treasury's change into reserves. */
export const payAndSplit = (world: World): TestTransaction =>
  withReserve(
    changeOutput(payOne(world), reservePlace, { lovelace: change - 2n * reserveMin }),
    reserve(world, 2n * reserveMin, []),
  )

/** A payout of an output whose payer adds to the payment. */
export const payMore = (world: World): TestTransaction => {
  const { paid } = withdrawal(world, 1)
  return changeOutput(payOne(world), 1, { lovelace: paid.lovelace + ada(1) })
}
