import { concatBytes } from '@ratatosk/cbor'
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
import { type Breach, breach } from '../breach.js'
import { adaBreach, outputBreaches } from '../output-breaches.js'
import type { TestTransaction } from '../transaction.js'
import { ada, changeInput, changeOutput, foreign, root, type World, wallet } from '../world.js'
import {
  bridgedTokens,
  keyOf,
  type Owed,
  owedMap,
  payLast,
  payOne,
  payout,
  settled,
  settlement,
  settlementName,
  settlementToken,
  withdrawal,
  withdrawals,
} from './scenarios.js'

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
