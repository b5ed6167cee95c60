import { headerHash } from '@ratatosk/block'
import { blake2b256 } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import { depositOutput, encodeBridgeDatum, encodeSettle, type Layer1Datum } from '../../datum/bridge.js'
import { leastMerged } from '../../layout.js'
import { type Breach, breach, outputBreaches, withConstructor, withField } from '../breach.js'
import { timeOf } from '../evaluate.js'
import { genesis, registryOutput, remove } from '../queue/scenarios.js'
import { registerSecond } from '../registry/scenarios.js'
import type { TestInput, TestOutput, TestTransaction } from '../transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  eventWait,
  foreign,
  foreignScript,
  openVerdict,
  reserveMin,
  root,
  scriptReference,
  stranger,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import { payBreaches, paymentBreaches } from './pay-breaches.js'
import {
  assetsOf,
  bridgedTokens,
  deposit,
  deposited,
  eventToken,
  firstId,
  follow,
  mergeAndSettle,
  owing,
  payAssets,
  payFromDeposits,
  payOne,
  reserve,
  reservePlace,
  settled,
  settlement,
  settlementName,
  settlementToken,
  tidy,
  tidyReserves,
  userAddress,
  withdrawal,
  withOutput,
  withWallet,
} from './scenarios.js'

const otherName = new Uint8Array(32).fill(0xff)
const keyHash = new Uint8Array(28).fill(0x51)

/** A deposit whose datum has another field. */
const withDatum = (place: number, value: PlutusData) => (world: World) =>
  withOutput(deposit(world), 0, ({ datum }) => ({ datum: withField(datum!, [place], value) }))

/** A deposit for a layer-2 datum that is written as is, with the hash that the script finds. */
const carrying = (carried: PlutusData, datum: Layer1Datum) => (world: World) =>
  withOutput(deposit(world, { datum }), 0, (output) => ({ datum: withField(output.datum!, [3], carried) }))

const inline = (data: PlutusData): Layer1Datum => ({ kind: 'inline', data: encodePlutusData(data) })
const hash = new Uint8Array(32).fill(9)
/** Data of 2,001 bytes: a list takes two. */
export const longDatum = Array.from({ length: 1999 }, () => 1n)

const at =
  (...address: number[]) =>
  (world: World): TestTransaction =>
    deposit(world, { address: Uint8Array.from(address) })

const addressBreaches = (
  [
    ['has no hash', at(0x60)],
    ['has 28 bytes', at(0x60, ...keyHash.subarray(1))],
    ['has 30 bytes', at(0x60, ...keyHash, 1)],
    ['has one hash instead of two', at(0x00, ...keyHash)],
    ['has two hashes instead of one', at(0x70, ...keyHash, ...keyHash)],
    ['has a pointer', at(0x40, ...keyHash, 1, 1, 1)],
    ['has a pointer as long as two hashes', at(0x50, ...keyHash, ...keyHash)],
    ['has the length of another and a pointer’s type', at(0x40, ...keyHash)],
    ['is of type 8', at(0x80, ...keyHash)],
    ['is an account', at(0xe0, ...keyHash)],
    ['is of the other network', at(0x61, ...keyHash)],
    ['is of network 15', at(0x0f, ...keyHash, ...keyHash)],
  ] as const
).map(([what, transaction]) => breach('deposit-address', `the address ${what}`, transaction))

const hashOf = (lovelace: bigint, tokens = 0): Uint8Array =>
  blake2b256(
    depositOutput({
      address: userAddress,
      lovelace,
      assets: assetsOf(bridgedTokens(tokens)),
      datum: { kind: 'none' },
    }),
  )

/** Breaches of the script of events. */
export const eventBreaches: readonly Breach[] = [
  breach('event-mints-one', 'two tokens are minted', (world) => ({
    ...deposit(world),
    outputs: [deposit(world).outputs[0]!, wallet(ada(30), [eventToken(world, firstId)])],
    mint: [eventToken(world, firstId, 2n)],
  })),
  breach('event-mints-one', 'a token of another name is minted as well', (world) => ({
    ...deposit(world),
    outputs: [deposit(world).outputs[0]!, wallet(ada(30), [eventToken(world, otherName)])],
    mint: [eventToken(world, firstId), eventToken(world, otherName)],
  })),
  breach('event-holds-token', 'the deposit holds the token of another, too', (world) => {
    const other = eventToken(world, otherName)
    const transaction = withWallet(deposit(world), [other])
    return withOutput(transaction, 0, ({ tokens = [] }) => ({ tokens: [...tokens, other] }))
  }),
  breach('event-at-bridge', 'the deposit has a staking part', (world) =>
    changeOutput(deposit(world), 0, { address: world.bridge.stakedAddress }),
  ),
  breach('event-at-bridge', 'the deposit is at a wallet', (world) =>
    changeOutput(deposit(world), 0, { address: walletAddress(stranger.hash) }),
  ),
  breach('event-at-bridge', 'the deposit is at the key that has the bridge’s hash', (world) =>
    changeOutput(deposit(world), 0, { address: walletAddress(world.bridge.policy) }),
  ),
  breach('event-no-script', 'the deposit holds a reference script', (world) =>
    changeOutput(deposit(world), 0, { script: world.events.script }),
  ),
  breach('event-has-id', 'the datum has another id', withDatum(0, otherName)),
  breach('event-time', 'the time is a millisecond later', withDatum(1, timeOf(60n) + eventWait + 1n)),
  breach('event-time', 'the time is in a block that is due', withDatum(1, timeOf(60n))),
  breach('deposit-shape', 'the datum has a sixth field', withDatum(5, 0n)),
  breach('deposit-shape', 'the datum is a settlement’s constructor', (world) =>
    withOutput(deposit(world), 0, ({ datum }) => ({ datum: withConstructor(datum!, [], 1) })),
  ),
  breach('deposit-bridged-only', 'the deposit holds a token that layer 1 does not back', (world) =>
    deposit(world, { tokens: [{ policy: openVerdict.hash, name: keyHash, quantity: 1n }] }),
  ),
  breach('deposit-bridged-only', 'one of many tokens is not backed', (world) =>
    deposit(world, {
      tokens: [...bridgedTokens(9), { policy: openVerdict.hash, name: keyHash, quantity: 1n }],
    }),
  ),
  breach('deposit-few-assets', 'there are 97 assets of four policies', (world) =>
    deposit(world, { tokens: bridgedTokens(97) }),
  ),
  ...addressBreaches,
  breach('deposit-not-to-bridge', 'the deposit would leave at once', (world) =>
    deposit(world, { address: world.bridge.address }),
  ),
  breach('deposit-not-to-bridge', 'the deposit is for the bridge’s hash with a staking part', (world) =>
    deposit(world, { address: world.bridge.stakedAddress }),
  ),
  ...(
    [
      ['is none with a field', constr(0, 1n), { kind: 'none' }],
      ['is a hash of 31 bytes', constr(1, hash.subarray(1)), { kind: 'hash', hash: hash.subarray(1) }],
      ['is two hashes', constr(1, hash, hash), { kind: 'hash', hash }],
      ['is inline, twice', constr(2, 1n, 2n), inline(1n)],
      ['is of no kind', constr(3, 1n), inline(1n)],
      ['has 2,001 bytes', constr(2, longDatum), inline(longDatum)],
    ] as const
  ).map(([what, carried, datum]) =>
    breach('deposit-datum', `the datum for layer 2 ${what}`, carrying(carried, datum)),
  ),
  ...(
    [
      ['is of nothing', () => hash],
      ['is of an output with more ada', () => hashOf(ada(61))],
      ['is of an output with a token', () => hashOf(ada(60), 1)],
    ] as const
  ).map(([what, hashFor]) => breach('deposit-output-hash', `the hash ${what}`, withDatum(4, hashFor()))),
]

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
const treasuryBreaches: readonly Breach[] = [
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

const settlementPlace = 2
const owed = { kind: 'settlement', root: owing.withdrawalsRoot, time: owing.endTime } as const

/** The administrator removes a block, and makes its settlement. */
function removeAndSettle(world: World) {
  const transaction = remove(world, owing)
  const token = settlementToken(world, headerHash(owing))
  return {
    ...transaction,
    referenceInputs: [
      { id: 200, output: registryOutput(world) },
      ...transaction.referenceInputs,
      scriptReference(world.bridge, 251),
    ],
    outputs: [
      transaction.outputs[0]!,
      wallet(ada(100)),
      { ...settlement(world, owed.root, { time: owed.time }), tokens: [token] },
      wallet(ada(2)),
    ],
    mint: [...transaction.mint, token],
    mintRedeemers: [...transaction.mintRedeemers, { policy: world.bridge.policy, redeemer: encodeSettle() }],
  }
}

/** Breaches of the rules by which the bridge makes settlements. */
const settleBreaches: readonly Breach[] = [
  breach('settle-mints-one', 'a token of another name is minted as well', (world) => {
    const transaction = mergeAndSettle(world)
    const other = settlementToken(world, new Uint8Array(28).fill(0xff))
    return {
      ...withOutput(transaction, 3, () => ({ tokens: [other] })),
      mint: [...transaction.mint, other],
    }
  }),
  breach('settle-by-merge', 'the block is removed', removeAndSettle),
  ...outputBreaches('settle', mergeAndSettle, settlementPlace, 'bridge'),
  ...(
    [
      ['of another map', { root: root(8) }],
      ['of a block that ends later', { time: owed.time + 1n }],
    ] as const
  ).map(([what, edit]) =>
    breach('settle-datum', `the settlement is ${what}`, (world) =>
      changeOutput(mergeAndSettle(world), settlementPlace, {
        datum: encodeBridgeDatum({ ...owed, ...edit }),
      }),
    ),
  ),
]

/** Breaches of the rules of inputs that follow. */
const followBreaches: readonly Breach[] = [
  breach(
    'follow-at-bridge',
    'a reserve follows the registry, whose action has the number of tidying',
    (world) => {
      const transaction = registerSecond(world)
      return {
        ...transaction,
        inputs: [...transaction.inputs, { id: 9, output: reserve(world, ada(50)), redeemer: follow(1) }],
        referenceInputs: [...transaction.referenceInputs, scriptReference(world.bridge, 251)],
      }
    },
  ),
  breach('follow-leader', 'a reserve follows itself', (world) => ({
    ...payOne(world),
    inputs: [
      { id: 1, output: wallet(ada(100)) },
      { id: 10, output: reserve(world, ada(50)), redeemer: follow(1) },
    ],
  })),
  breach('follow-leader', 'two reserves follow each other', (world) => ({
    ...payOne(world),
    inputs: [
      { id: 10, output: reserve(world, ada(50)), redeemer: follow(1) },
      { id: 11, output: reserve(world, ada(50)), redeemer: follow(0) },
    ],
  })),
]

export const bridgeBreaches: readonly Breach[] = [
  ...settleBreaches,
  ...followBreaches,
  ...payBreaches,
  ...paymentBreaches,
  ...treasuryBreaches,
]
