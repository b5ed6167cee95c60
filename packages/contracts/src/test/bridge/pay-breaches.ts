import { CborWriter, concatBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import {
  constr,
  constrOf,
  decodePlutusData,
  encodePlutusData,
  listOf,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'
import { childHash, nibbleAt, type Proof, proofToCbor, rootExcluding, stepBeside } from '@ratatosk/trie'
import { encodeBridgeDatum, encodeBridgeSpend } from '../../datum/bridge.js'
import { BridgeSpend } from '../../layout.js'
import { adaBreach, type Breach, breach, outputBreaches } from '../breach.js'
import { encodeOutput, type TestOutput, type TestTransaction } from '../transaction.js'
import {
  ada,
  changeInput,
  changeOutput,
  foreign,
  openVerdict,
  payoutFee,
  root,
  stranger,
  type World,
  wallet,
  walletAddress,
} from '../world.js'
import {
  bridgedTokens,
  eventToken,
  keyOf,
  type Owed,
  owedMap,
  payAssets,
  payLast,
  payOne,
  payout,
  settled,
  settlement,
  settlementName,
  settlementToken,
  targetOf,
  withdrawal,
  withdrawals,
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

/** The transaction whose settlement has another redeemer. */
const withRedeemer = (transaction: TestTransaction, redeemer: Uint8Array): TestTransaction => ({
  ...transaction,
  inputs: transaction.inputs.map((input) => (input.id === 2 ? { ...input, redeemer } : input)),
})

const entriesIn = ({ inputs }: TestTransaction): readonly PlutusData[] => {
  const redeemer = inputs.find(({ id }) => id === 2)!.redeemer!
  return listOf(constrOf(decodePlutusData(redeemer), 'redeemer').fields[0], 'entries')
}

const payRedeemer = (entries: readonly PlutusData[]): Uint8Array =>
  encodePlutusData(constr(BridgeSpend.pay, entries))

/** The root that a proof, forged or not, leads to without its key. */
const settledWithout = (world: World, key: Uint8Array, proof: Proof) =>
  settlement(world, rootExcluding(key, proof))

/** Two withdrawals whose paths differ in the first nibble: a map of one branch with two children. */
function twoOf(world: World): readonly [Owed, Owed] {
  const one = withdrawal(world, 0)
  const first = nibbleAt(blake2b256(one.key), 0)
  const other = withdrawals(world, 40).find(({ key }) => nibbleAt(blake2b256(key), 0) !== first)!
  return [one, other]
}

/**
 * Pays one of two outputs by a proof that says that their branch has others: the branch would be left with
 * one child, and no one could prove what is left.
 *
 * @param otherChild `[nibble, hash, siblings]` that claims to show two others
 */
const leavingOneChild =
  (
    otherChild: (
      beside: (nibble: number) => Uint8Array,
      other: { nibble: number; hash: Uint8Array },
    ) => PlutusData,
  ) =>
  (world: World): TestTransaction => {
    const [one, other] = twoOf(world)
    const trie = owedMap([one, other], 0)
    const node = trie.nodeAt(blake2b256(one.key), 0)
    if (node?.kind !== 'branch') throw new TypeError('no branch')
    const siblings = (nibble: number) => stepBeside(node, 0, nibble).neighbors
    const step = stepBeside(node, 0, nibbleAt(blake2b256(one.key), 0))
    const nibble = nibbleAt(blake2b256(other.key), 0)
    const claimed = otherChild(siblings, { nibble, hash: childHash(node, nibble)! })
    const [proof] = listOf(decodePlutusData(proofToCbor([step])), 'proof')
    const { index, fields } = constrOf(proof, 'step')
    const entry = [one.key, one.output, [constr(index, ...fields, claimed)]]
    const transaction = payout(world, [one])
    return withRedeemer(
      changeOutput(
        changeInput(transaction, 2, settlement(world, trie.root)),
        0,
        settledWithout(world, one.key, [step]),
      ),
      payRedeemer([entry]),
    )
  }

/** Pays an output that the settlement does not owe, by the proof of another value or key. */
function payInvented(world: World): TestTransaction {
  const owed = withdrawal(world, 1)
  const invented = withdrawal(world, 1, { lovelace: ada(50) })
  const transaction = payout(world, [owed])
  const [entry] = entriesIn(transaction).map((each) => listOf(each, 'entry'))
  const changed = withRedeemer(transaction, payRedeemer([[owed.key, invented.output, entry![2]!]]))
  return {
    ...changeOutput(changed, 1, invented.paid),
    inputs: changed.inputs.map((input) =>
      input.id === 10 ? { ...input, output: { ...input.output, lovelace: ada(70) } } : input,
    ),
  }
}

/** Pays one output twice. */
function payTwice(world: World): TestTransaction {
  const [one, other] = [withdrawal(world, 1), withdrawal(world, 1)]
  const transaction = payout(world, [one])
  const [entry] = entriesIn(transaction)
  const [rest, paid, reserve, change] = transaction.outputs
  return {
    ...withRedeemer(transaction, payRedeemer([entry!, entry!])),
    outputs: [rest!, paid!, other.paid, reserve!, change!],
  }
}

/** Pays by the proof of a key of which it knows the value, under a key that is not there. */
function payUnderOtherKey(world: World): TestTransaction {
  const owed = withdrawal(world, 1)
  const trie = owedMap([owed], 20)
  const keys = Array.from({ length: 40 }, (_, i) => keyOf(`another ${i}`))
  const key = keys.find((each) => trie.proveAbsence(each).at(-1)?.type !== 'branch')!
  const proof = trie.proveAbsence(key)
  const transaction = payout(world, [owed])
  const entry = { key, output: owed.output, proof: proofToCbor(proof) }
  return withRedeemer(
    changeOutput(transaction, 0, settledWithout(world, key, proof)),
    encodeBridgeSpend({ kind: 'pay', entries: [entry] }),
  )
}

const genuineBreaches: readonly Breach[] = [
  breach('pay-genuine-settlement', 'the settlement’s token is of a foreign policy', (world) => {
    const tokens = [foreign(settlementName)]
    return changeOutput(changeInput(payOne(world), 2, { tokens }), 0, { tokens })
  }),
  breach('pay-genuine-settlement', 'the settlement holds another token, too', (world) => {
    const tokens = [settlementToken(world, settlementName), foreign(settlementName)]
    return changeOutput(changeInput(payOne(world), 2, { tokens }), 0, { tokens })
  }),
]

/** Breaches of the rules by which a settlement is paid. */
export const payBreaches: readonly Breach[] = [
  ...genuineBreaches,
  breach('pay-some', 'nothing is paid', (world) => {
    const transaction = payout(world, [], { money: [] })
    return { ...transaction, outputs: [transaction.outputs[0]!, wallet(ada(95))] }
  }),
  breach('pay-owed-only', 'another output is paid under the key', payInvented),
  breach('pay-owed-only', 'an output is paid twice', payTwice),
  breach('pay-owed-only', 'the key is not there', payUnderOtherKey),
  breach(
    'pay-leaves-map',
    'a branch is left with one child, and an empty place is shown as another',
    leavingOneChild((beside, { nibble }) => {
      const empty = nibble < 8 ? 15 : 0
      return [BigInt(empty), new Uint8Array(32), beside(empty)]
    }),
  ),
  breach(
    'pay-leaves-map',
    'a branch is left with one child, and this is shown as another',
    leavingOneChild((beside, { nibble, hash }) => [BigInt(nibble), hash, beside(nibble)]),
  ),
  breach(
    'pay-leaves-map',
    'a branch is left with one child, and one is invented',
    leavingOneChild(() => [
      5n,
      new Uint8Array(32).fill(5),
      concatBytes(...Array.from({ length: 4 }, (_, i) => root(i + 1))),
    ]),
  ),
  breach('pay-burns-settlement', 'two tokens of the settlement burn', (world) => ({
    ...payLast(world),
    mint: [settlementToken(world, settlementName, -2n)],
  })),
  breach('pay-ends-with-ada', 'output 0 takes an asset of the treasury', (world) =>
    changeOutput(payLast(world), 0, { tokens: bridgedTokens(1) }),
  ),
  ...outputBreaches('pay-continues', payOne, 0, 'bridge'),
  adaBreach('pay-continues', payOne, 0),
  ...(
    [
      ['owes another map', root(9), settled],
      ['takes later deposits', undefined, settled + 1n],
    ] as const
  ).map(([what, otherRoot, time]) =>
    breach('pay-continues-datum', `the settlement then ${what}`, (world) => {
      const owed = withdrawal(world, 1)
      const trie = owedMap([owed], 20)
      trie.delete(owed.key)
      return changeOutput(payOne(world), 0, {
        datum: encodeBridgeDatum({ kind: 'settlement', root: otherRoot ?? trie.root, time }),
      })
    }),
  ),
]
