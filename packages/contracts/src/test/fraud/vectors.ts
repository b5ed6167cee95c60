import { join } from 'node:path'
import { CborReader, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import {
  cborSamples,
  framedTransaction,
  type LedgerRun,
  ledgerRuns,
  ledgerScenarios,
  midgardChains,
  midgardGenesis,
  slotsOfRuns,
  transactionsOfBlock,
  vectors,
  vectorsFolder,
} from '@ratatosk/fixtures/vectors'
import {
  decodeOutputReference,
  decodeTransaction,
  decodeTransactionOutput,
  effects,
  type OutputReference,
  outputReferenceKey,
  type PredicateFailure,
  type Transaction,
  type TransactionOutput,
  validatePhaseOne,
  validateProfile,
} from '@ratatosk/ledger'
import type { ProvableRules } from '../../fraud/rules.js'
import { parameters as mainnet } from '../evaluate.js'
import { blockOf, type Entries, hexOf, noteOutputs, type TestBlock } from './blocks.js'
import { withInventedState } from './invented-state.js'

export const hasVectors = vectorsFolder('midgard-txs') !== undefined

/** Transactions of the vectors, in the order of a block. */
export interface VectorTransactions {
  readonly name: string
  readonly transactions: readonly Uint8Array[]
  /** The outputs unspent before them: output CBOR by reference in hex. It holds until the next is read. */
  readonly unspent: ReadonlyMap<string, Uint8Array>
  readonly rules: ProvableRules
  readonly slot: bigint
  /** Whether the ledger that recorded them accepts them; undefined if none did. */
  readonly accepted?: boolean
}

const folder = (name: string) => join(vectors, name)
const slots = slotsOfRuns

export const collections: { readonly [name: string]: () => Generator<VectorTransactions, void> } = {
  'midgard-txs': midgard,
  'ledger-scenarios': scenarios,
  'ledger-rules/eras': runs,
  'cbor-decode': samples,
}

/** The chains, four transactions at a time. They pay no fees. */
function* midgard(): Generator<VectorTransactions, void> {
  const size = 4
  const parameters = { ...mainnet, minFeeA: 0n, minFeeB: 0n }
  for (const { name, transactions } of midgardChains(folder('midgard-txs'))) {
    const chain = transactions.map(({ cbor }) => cbor)
    const [genesis] = decodeTransaction(chain[0]!).body.inputs
    const unspent: Entries = new Map([[hexOf(genesis!), midgardGenesis]])
    for (let place = 0; place < chain.length; place += size) {
      const own = chain.slice(place, place + size)
      yield {
        name: `${name}[${place}]`,
        transactions: own,
        unspent,
        rules: { parameters, networkId: 0, slots },
        slot: 0n,
      }
      for (const transaction of own) apply(decodeTransaction(transaction), unspent)
      // Of a thousand outputs of the chain's past, some suffice.
      for (const key of [...unspent.keys()].slice(0, -20)) unspent.delete(key)
    }
  }
}

function* scenarios(): Generator<VectorTransactions, void> {
  for (const scenario of ledgerScenarios(folder('ledger-scenarios'))) {
    const { name, network, parameters, unspent, slot, transaction, expected } = scenario
    yield {
      name,
      transactions: [transaction],
      unspent: entriesOf(unspent),
      rules: { parameters, networkId: network === 'mainnet' ? 1 : 0, slots },
      slot,
      accepted: expected === 'Pass',
    }
  }
}

/** A run does not record where its parameters change: after its first epoch boundary, the new ones count. */
function* runs(): Generator<VectorTransactions, void> {
  for (const { name, unspent: before, events, parametersBefore, parametersAfter } of ledgerRuns(
    folder('ledger-rules'),
  )) {
    const unspent = entriesOf(before)
    let parameters = parametersBefore
    for (const [index, event] of events.entries()) {
      if (event.kind === 'epochs') {
        parameters = parametersAfter
        continue
      }
      const { bytes, accepted, slot } = event
      yield {
        name: `${name}[${index}]`,
        transactions: [bytes],
        unspent,
        rules: { parameters, networkId: 0, slots },
        slot,
        accepted,
      }
      if (accepted) apply(decodeTransaction(bytes), unspent)
    }
  }
}

/** How transactions are got from samples of each kind. */
const transactionsOfSample = {
  block: transactionsOfBlock,
  transaction: (bytes: Uint8Array) => [bytes],
  transaction_body: (bytes: Uint8Array) => [framedTransaction(bytes)],
}

/** Samples say nothing of the ledger before them. */
function* samples(): Generator<VectorTransactions, void> {
  for (const [kind, transactionsOf] of Object.entries(transactionsOfSample)) {
    const all = cborSamples(folder('cbor-decode'), kind as keyof typeof transactionsOfSample)
    if (all.length === 0) throw new Error(`no sample of a ${kind}`)
    for (const { name, bytes: sample } of all) {
      for (const [index, bytes] of transactionsOf(sample).entries()) {
        const { transaction, unspent, networkId, slot } = withInventedState(bytes)
        yield {
          name: `${kind} ${name}[${index}]`,
          transactions: [transaction],
          unspent,
          rules: { parameters: mainnet, networkId, slots },
          slot,
        }
      }
    }
  }
}

const entriesOf = (unspent: LedgerRun['unspent']): Entries =>
  new Map(unspent.map(([reference, output]) => [hexOf(decodeOutputReference(reference)), output]))

function apply(transaction: Transaction, unspent: Entries): void {
  const { spent, produced } = effects(transaction)
  for (const reference of spent) unspent.delete(hexOf(reference))
  for (const { reference, output } of produced) unspent.set(hexOf(reference), output.bytes)
}

/** The rules that nodes apply and no policy proves: no bond is lost by them. */
const unproven = new Set([
  'CollateralContainsNonADA',
  'ConwayTxRefScriptsSizeTooBig',
  'ExUnitsTooBigUTxO',
  'ExtraRedeemers',
  'ExtraneousScriptWitnessesUTXOW',
  'IncorrectTotalCollateralField',
  'InsufficientCollateral',
  'InvalidMetadata',
  'MalformedReferenceScripts',
  'MalformedScriptWitnesses',
  'MaxTxSizeUTxO',
  'NoCollateralInputs',
  'NotAllowedSupplementalDatums',
  'OutputBootAddrAttrsTooBig',
  'OutputTooBigUTxO',
  'ScriptsNotPaidUTxO',
  'TooManyCollateralInputs',
  'UnspendableUTxONoDatumHash',
])

/**
 * The verdict expected of the policies: none for an honest block or a breach of rules that no policy proves;
 * otherwise a fraud. The vector records the results of scripts.
 */
export type Judgement =
  | { readonly kind: 'honest' }
  | { readonly kind: 'malformed' }
  /** The reason is the first predicate that is broken, in words if there is none. */
  | { readonly kind: 'unproven' | 'fraud'; readonly reason: string }

export function judgementOf({ transactions, unspent, rules, slot, accepted }: VectorTransactions): Judgement {
  const utxos = new Map<string, TransactionOutput>()
  for (const [key, output] of unspent)
    utxos.set(outputReferenceKey(decodeOutputReference(fromHex(key))), decodeTransactionOutput(output))
  const frauds: string[] = []
  const others: string[] = []
  for (const bytes of transactions) {
    let transaction: Transaction
    try {
      transaction = decodeTransaction(bytes)
    } catch (error) {
      if (isDecodeError(error)) return { kind: 'malformed' }
      throw error
    }
    for (const failure of [
      ...validateProfile(transaction),
      ...validatePhaseOne(transaction, utxos, { ...rules, slot }),
    ]) {
      const { predicate } = failure
      if (unproven.has(predicate)) others.push(predicate)
      else if (isOfCollateral(failure, transaction, utxos)) others.push(`${predicate} of collateral`)
      else frauds.push(predicate)
    }
    for (const { reference, output } of effects(transaction).produced)
      utxos.set(outputReferenceKey(reference), output)
  }
  if (frauds[0] !== undefined) return { kind: 'fraud', reason: frauds[0] }
  if (others[0] !== undefined) return { kind: 'unproven', reason: others[0] }
  return accepted === false ? { kind: 'unproven', reason: 'its scripts fail' } : { kind: 'honest' }
}

/** Whether the keys that have not signed are those of collateral alone. */
function isOfCollateral(
  { predicate, details }: PredicateFailure,
  { body }: Transaction,
  utxos: ReadonlyMap<string, TransactionOutput>,
): boolean {
  if (predicate !== 'MissingVKeyWitnessesUTXOW') return false
  const ownersOf = (references: readonly OutputReference[]) =>
    references.flatMap((reference) => {
      const address = utxos.get(outputReferenceKey(reference))?.address
      return address !== undefined && 'payment' in address ? [toHex(address.payment.hash)] : []
    })
  const needed = new Set([...ownersOf(body.inputs), ...body.requiredSigners.map(toHex)])
  const collateral = new Set(ownersOf(body.collateralInputs))
  const missing = details.keyHashes as readonly string[]
  return missing.every((hash) => collateral.has(hash) && !needed.has(hash))
}

/** The block of transactions, which begins at their slot and takes 30 seconds. */
export function blockOfVector({ transactions, unspent, rules, slot }: VectorTransactions): TestBlock {
  for (const transaction of transactions) {
    const { id, body } = decodeTransaction(transaction)
    noteOutputs(
      id,
      body.outputs.map(({ bytes }) => bytes),
    )
  }
  const { zeroTime, zeroSlot, slotLength } = rules.slots
  const startTime = zeroTime + (slot - zeroSlot) * BigInt(slotLength)
  return blockOf(transactions, new Map(unspent), { header: { startTime, endTime: startTime + 30_000n } })
}

export function* vectorBodies(): Generator<Uint8Array, void> {
  for (const transactionsOf of Object.values(collections))
    for (const { transactions } of transactionsOf()) for (const each of transactions) yield* bodyIn(each)
}

/** The body of a transaction, if the transaction is well-formed so far. */
function* bodyIn(transaction: Uint8Array): Generator<Uint8Array, void> {
  const reader = new CborReader(transaction)
  try {
    reader.readArray()
    const start = reader.position
    reader.skip()
    yield reader.since(start)
  } catch (error) {
    // Some vectors are transactions that do not decode.
    if (!isDecodeError(error)) throw error
  }
}
