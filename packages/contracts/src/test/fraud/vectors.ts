import { join } from 'node:path'
import { CborReader, concatBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
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
  blake2b224,
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
  verifySignature,
} from '@ratatosk/ledger'
import type { ProvableRules } from '../../fraud-scripts.js'
import { parameters as mainnet } from '../evaluate.js'
import { testKey } from '../transaction.js'
import { blockOf, type Entries, hexOf, noteOutputs, type TestBlock } from './blocks.js'
import { list, map, outputWith, string, type Tokens, uint } from './transaction/transactions.js'

/** A transaction with the ledger that it may be applied to. */
interface InventedState {
  readonly transaction: Uint8Array
  /** Output CBOR by reference in hex. */
  readonly unspent: Entries
  readonly networkId: number
  readonly slot: bigint
}

/** Signs transactions that have no signature yet. */
const signer = testKey('samples')

/** The lovelace of an output unless the sums need more, and of collateral. */
const least = 1_000_000n
const ofCollateral = 10_000_000n

/** The last slot at which a block may begin here, about 35,000 years on. */
const lastSlot = 2n ** 40n

/**
 * A ledger for a transaction whose vector lacks one: its inputs stand for outputs of the keys that signed it,
 * which hold what it pays. Without valid signatures and other witnesses, a test key signs instead.
 */
function withInventedState(bytes: Uint8Array): InventedState {
  let decoded: Transaction
  try {
    decoded = decodeTransaction(bytes)
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return { transaction: bytes, unspent: new Map(), networkId: 0, slot: 0n }
  }
  const transaction = isSigned(decoded) ? decoded : signed(decoded)
  const { body } = transaction
  const [output] = body.outputs
  const networkId = body.networkId ?? output?.address.networkId ?? 0
  const { invalidBefore = 0n } = body.validityInterval
  return {
    transaction: transaction.bytes,
    unspent: outputsFor(transaction, networkId),
    networkId,
    slot: invalidBefore < lastSlot ? invalidBefore : lastSlot,
  }
}

function isSigned({ id, witnesses: { keyWitnesses } }: Transaction): boolean {
  return (
    keyWitnesses.length > 0 &&
    keyWitnesses.every(({ publicKey, signature }) => verifySignature(publicKey, id, signature))
  )
}

/** The same transaction signed by the tests' key alone, unless it has witnesses of other kinds. */
function signed(transaction: Transaction): Transaction {
  const { id, body, witnesses, auxiliaryData, isValid } = transaction
  const { bootstrapWitnesses, scripts, datums, redeemers } = witnesses
  if (bootstrapWitnesses.length + scripts.length + datums.size + redeemers.length > 0) return transaction
  const signature = list(string(signer.publicKey), string(signer.sign(id)))
  return decodeTransaction(
    framedTransaction(body.bytes, map([uint(0), list(signature)]), auxiliaryData?.bytes, isValid),
  )
}

/**
 * The outputs of inputs, reference inputs and collateral. One input, if possible of a key, holds the rest.
 */
function outputsFor({ body, witnesses }: Transaction, networkId: number): Entries {
  const keys = witnesses.keyWitnesses.map(({ publicKey }) => blake2b224(publicKey))
  const scripts = scriptInputs(body, witnesses)
  const collateral = new Set(body.collateralInputs.map(hexOf))
  const inputs = body.inputs.map(hexOf)
  const rich = inputs.find((key) => !scripts.has(key) && !collateral.has(key)) ?? inputs[0]
  const rest = least * BigInt(Math.max(0, inputs.length - 1))
  const lovelace = body.outputs.reduce((sum, { value }) => sum + value.lovelace, body.fee) - rest
  const outputs: Entries = new Map()
  for (const [place, key] of [...inputs, ...collateral, ...body.referenceInputs.map(hexOf)].entries()) {
    const script = scripts.get(key)
    const hash = script?.hash ?? keys[place % keys.length] ?? signer.hash
    const other = { lovelace: inputs.includes(key) ? least : ofCollateral }
    const held = key === rich ? { lovelace, tokens: tokensFor(body) } : other
    if (held.lovelace < 0n || held.lovelace >= 2n ** 64n || outputs.has(key)) continue
    const address = concatBytes(Uint8Array.of((script ? 0x70 : 0x60) | networkId), hash)
    outputs.set(key, outputWith({ ...held, address, ...(script?.datum && { datumHash: script.datum }) }))
  }
  return outputs
}

/** The inputs that redeemers point to: of a script of the witness set, with a datum if there is one. */
function scriptInputs(
  { inputs }: Transaction['body'],
  { redeemers, scripts, datums }: Transaction['witnesses'],
) {
  const sorted = inputs.map(hexOf).sort()
  const [script] = scripts
  const [datum] = datums.keys()
  const named = redeemers.filter(({ purpose, index }) => purpose === 'spend' && index < sorted.length)
  return new Map(
    script === undefined
      ? []
      : named.map(({ index }) => [
          sorted[index]!,
          { hash: script.hash, datum: datum === undefined ? undefined : fromHex(datum) },
        ]),
  )
}

/** The tokens that a transaction pays and does not mint. */
function tokensFor({ outputs, mint }: Transaction['body']): Tokens {
  const needed = new Map<string, bigint>()
  const add = (assets: Transaction['body']['mint'], sign: bigint) => {
    for (const [policy, quantities] of assets)
      for (const [name, quantity] of quantities)
        needed.set(policy + name, (needed.get(policy + name) ?? 0n) + sign * quantity)
  }
  for (const { value } of outputs) add(value.assets, 1n)
  add(mint, -1n)
  return [...needed]
    .filter(([, quantity]) => quantity > 0n)
    .map(([unit, quantity]) => [fromHex(unit.slice(0, 56)), fromHex(unit.slice(56)), quantity])
}

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
