import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { encodePlutusData } from '@ratatosk/ledger/plutus-data'
import { type Breach, breach } from '../breach.js'
import { encodeOutput, type TestOutput, type TestTransaction } from '../transaction.js'
import { ada, changeOutput, openVerdict, payoutFee, stranger, type World, walletAddress } from '../world.js'
import {
  bridgedTokens,
  eventToken,
  payAssets,
  payOne,
  payout,
  targetOf,
  withdrawal,
  withOutput,
} from './scenarios.js'

const target = targetOf(1)
const hash = new Uint8Array(28).fill(0x33)
/** The outputs of a payout of one output that pay it. */
const paymentPlace = 1

/** Pays an output that leaves with another content. */
const payOther =
  (edit: (world: World) => Partial<TestOutput>) =>
  (world: World): TestTransaction => {
    const owed = withdrawal(world, 1)
    const left: TestOutput = {
      address: world.bridge.address,
      lovelace: owed.paid.lovelace + payoutFee,
      datum: encodePlutusData(target),
      ...edit(world),
    }
    return payout(world, [{ ...owed, output: encodeOutput(left) }])
  }

/** Pays an output whose inline datum is other CBOR to an address. */
const payDatum =
  (datum: Uint8Array, address = target) =>
  (world: World): TestTransaction => {
    const owed = withdrawal(world, 1)
    const output = encodeOutput({ address: world.bridge.address, lovelace: ada(5) + 1n, datum })
    return payout(world, [{ ...owed, output, paid: { ...owed.paid, address } }])
  }

/**
 * An output with the hash of a datum. Without regard to the number before it, it reads as the string of an
 * address, which ends with the key of the next field.
 */
function payHash(world: World): TestTransaction {
  const owed = withdrawal(world, 1)
  const start = concatBytes(Uint8Array.of(0x60), hash.subarray(1))
  const output = new CborWriter()
    .map(3)
    .uint(2)
    .array(2)
    .uint(0)
    .bytes(concatBytes(Uint8Array.of(0x58, 31, 0x58, 29), start))
    .uint(0)
    .bytes(world.bridge.address)
    .uint(1)
    .uint(ada(5) + 1n)
    .toBytes()
  const address = concatBytes(start, Uint8Array.of(0))
  return payout(world, [{ ...owed, output, paid: { ...owed.paid, address } }])
}

const pointer = (type: number) => concatBytes(Uint8Array.of(type << 4), hash)

const withdrawalBreaches: readonly Breach[] = [
  ...(
    [
      ['is at a wallet', () => ({ address: walletAddress(stranger.hash) })],
      ['is at another script', ({ events }: World) => ({ address: Uint8Array.of(0x70, ...events.policy) })],
      ['is at the bridge with a staking part', ({ bridge }: World) => ({ address: bridge.stakedAddress })],
      [
        'is at the key with the bridge’s hash',
        ({ bridge }: World) => ({ address: walletAddress(bridge.policy) }),
      ],
    ] as const
  ).map(([what, edit]) => breach('withdrawal-at-bridge', `what is paid ${what}`, payOther(edit))),
  ...(
    [
      ['is a text', payDatum(Uint8Array.of(0x78, 29, ...target))],
      ['has a byte behind the address', payDatum(Uint8Array.of(0x58, 29, ...target, 0))],
      ['says another length', payDatum(Uint8Array.of(0x58, 28, ...target))],
      ['has two hashes where one belongs', payDatum(encodePlutusData(Uint8Array.of(...target, ...hash)))],
      ['is a pointer without numbers', payDatum(encodePlutusData(pointer(4)), walletAddress(hash))],
      ['is a pointer’s script', payDatum(encodePlutusData(pointer(5)), Uint8Array.of(0x70, ...hash))],
      ['is an address of type 8', payDatum(encodePlutusData(pointer(8)), walletAddress(hash))],
      ['is the hash of a datum', payHash],
    ] as const
  ).map(([what, transaction]) => breach('withdrawal-datum', `the datum ${what}`, transaction)),
  breach('withdrawal-no-script', 'what is paid has a reference script', (world) =>
    payOther(({ registry }) => ({ script: registry.script }))(world),
  ),
  breach('withdrawal-bridged-only', 'what is paid holds an asset of layer 2 only', (world) =>
    payout(world, [
      withdrawal(world, 1, { tokens: [{ policy: openVerdict.hash, name: hash, quantity: 1n }] }),
    ]),
  ),
  breach('withdrawal-bridged-only', 'what is paid holds an event token', (world) =>
    payout(world, [withdrawal(world, 1, { tokens: [eventToken(world, new Uint8Array(32))] })]),
  ),
]

const datumHash = new Uint8Array(32).fill(9)

/** A payment of assets: output 1 of {@link payAssets} has assets, output 2 a datum's hash. */
const withTokens = (tokens: TestOutput['tokens']) => (world: World) =>
  changeOutput(payAssets(world), paymentPlace, { tokens: tokens ?? [] })

const [first, second, ...others] = bridgedTokens(5)

/** Breaches of the rules of payments. */
export const paymentBreaches: readonly Breach[] = [
  ...withdrawalBreaches,
  breach('payment-address', 'the payment is another’s', (world) =>
    changeOutput(payOne(world), paymentPlace, { address: walletAddress(stranger.hash) }),
  ),
  breach('payment-address', 'the payment has a staking part', (world) =>
    changeOutput(payOne(world), paymentPlace, {
      address: Uint8Array.of(0x00, ...target.subarray(1), ...stranger.hash),
    }),
  ),
  breach('payment-address', 'the payment is to the script with the key’s hash', (world) =>
    changeOutput(payOne(world), paymentPlace, { address: target.with(0, 0x70) }),
  ),
  breach('payment-address', 'the staking part is another', (world) => {
    const base = Uint8Array.of(0x10, ...hash, ...hash)
    const transaction = payout(world, [withdrawal(world, 1, { target: base })])
    return changeOutput(transaction, paymentPlace, { address: base.with(0, 0x30) })
  }),
  breach('payment-datum', 'the payment has an inline datum', (world) =>
    changeOutput(payOne(world), paymentPlace, { datum: encodePlutusData(1n) }),
  ),
  breach('payment-datum', 'the payment has the hash of a datum', (world) =>
    changeOutput(payOne(world), paymentPlace, { datumHash }),
  ),
  breach('payment-datum', 'the datum’s hash is another', (world) =>
    changeOutput(payAssets(world), 2, { datumHash: datumHash.with(0, 0) }),
  ),
  breach('payment-datum', 'the datum’s hash is missing', (world) => {
    const { datumHash: _, ...bare } = payAssets(world).outputs[2]!
    return {
      ...payAssets(world),
      outputs: payAssets(world).outputs.map((each, i) => (i === 2 ? bare : each)),
    }
  }),
  breach('payment-no-script', 'the payment has a reference script', (world) =>
    changeOutput(payOne(world), paymentPlace, { script: world.registry.script }),
  ),
  breach('payment-ada', 'the payer keeps a lovelace more', (world) =>
    withOutput(payOne(world), paymentPlace, ({ lovelace }) => ({ lovelace: lovelace - 1n })),
  ),
  ...(
    [
      ['no asset is paid', []],
      ['an asset is missing', [first!, ...others]],
      ['one of an asset is missing', [first!, { ...second!, quantity: 1n }, ...others]],
      ['there is one more of an asset', [first!, { ...second!, quantity: 3n }, ...others]],
      ['an asset has another name', [first!, { ...second!, name: Uint8Array.of(9) }, ...others]],
      ['an asset has another policy', [first!, { ...second!, policy: first!.policy }, ...others]],
      [
        'two assets have each other’s quantity',
        [{ ...first!, quantity: 2n }, { ...second!, quantity: 1n }, ...others],
      ],
      ['there is another asset', [...bridgedTokens(6)]],
      ['an event token is there, too', [...bridgedTokens(5), { policy: hash, name: hash, quantity: 1n }]],
    ] as const
  ).map(([what, tokens]) => breach('payment-assets', what, withTokens(tokens))),
  breach('payment-assets', 'what is paid has only ada, and the payment an asset', (world) =>
    changeOutput(payOne(world), paymentPlace, { tokens: [first!] }),
  ),
]
