import { blake2b256 } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import { depositOutput, type Layer1Datum } from '../../datum/bridge.js'
import { type Breach, breach } from '../breach.js'
import { withConstructor, withField } from '../data-edit.js'
import { timeOf } from '../evaluate.js'
import type { TestTransaction } from '../transaction.js'
import {
  ada,
  changeOutput,
  eventWait,
  openVerdict,
  stranger,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import {
  assetsOf,
  bridgedTokens,
  deposit,
  eventToken,
  firstId,
  userAddress,
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
