import { fitOf, intervalOf, type TransactionRecord } from '@ratatosk/block'
import { BytesMap, concatBytes, equalBytes, fromHex } from '@ratatosk/cbor'
import type { ProvableRules } from '@ratatosk/contracts'
import {
  blake2b256,
  encodeOutputReference,
  minimumFee,
  minimumLovelace,
  outputReferenceKey,
  splitUnit,
  type Transaction,
  type TransactionOutput,
  validatePart,
  validateProfile,
} from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { shapeFrauds, strangeItems, strangeWitnesses } from './find-shape-fraud.js'
import { openRecord, openTransaction } from './openings.js'
import { movedAt, type Read, readAt, readOutput } from './read-at.js'
import { type Recorded, readKnownChunks, recordedAt } from './recorded.js'
import { type FoundFraud, firstFound, type Search, smallestFirst, step } from './smallest-proof.js'
import {
  type Asset,
  encodeTransactionFraudProof,
  type OutputPlace,
  type ResolvedOutputs,
  type TransactionFraudProof,
} from './transaction-proofs.js'

/**
 * Looks for the first transaction of a block that breaks a rule of its own, and returns the smallest of
 * its first proofs; undefined if there is none.
 *
 * A transaction that does not decode is read as the script reads it, except its minimum fee where the
 * witness set does not decode. The outputs of inputs are known only from the block's own transactions and
 * `outputBefore`; without it, values are not compared and reference scripts cost nothing. The proof is not
 * evaluated: do that before it is sent.
 *
 * @param rules of the layer 2, as the transaction policy has them
 */
export function findTransactionFraud(
  block: AccusedBlock,
  rules: ProvableRules,
): FoundFraud<TransactionFraudProof> | undefined {
  return firstFound(transactionFrauds(block, rules))
}

/** All frauds that {@link findTransactionFraud} could find, the smallest proofs of each transaction first. */
export function* transactionFrauds(block: AccusedBlock, rules: ProvableRules): Search<TransactionFraudProof> {
  yield* readKnownChunks(block)
  const made = yield* outputsMadeIn(block)
  const outputOf = (key: Uint8Array) => made.get(key) ?? block.outputBefore?.(key)
  for (const position of block.transactions.keys()) {
    yield step
    const recorded = recordedAt(block, position)
    if (recorded === undefined) continue
    const read = readAt(block, recorded)
    const encode = (proof: TransactionFraudProof) => encodeTransactionFraudProof(block.header, proof)
    const frauds = read ? fraudsOf(block, rules, recorded, read, outputOf) : shapeFrauds(block, recorded)
    yield* smallestFirst(frauds, encode)
    if (!(read?.isDecoded && read.hasWitnesses))
      yield* smallestFirst(strangeItems(block, recorded, rules.networkId), encode)
  }
}

function* outputsMadeIn(block: AccusedBlock): Generator<typeof step, BytesMap<Uint8Array>> {
  const made = new BytesMap<Uint8Array>()
  for (const position of block.transactions.keys()) {
    yield step
    const recorded = recordedAt(block, position)
    if (recorded === undefined) continue
    const { id: transactionId } = recorded.parts
    for (const [index, output] of movedAt(recorded)?.outputs.entries() ?? [])
      made.set(encodeOutputReference({ transactionId, index }), output)
  }
  return made
}

function* fraudsOf(
  block: AccusedBlock,
  rules: ProvableRules,
  recorded: Recorded,
  { transaction: decoded, isDecoded, hasWitnesses }: Read,
  outputOf: (key: Uint8Array) => Uint8Array | undefined,
): Generator<TransactionFraudProof, void> {
  const { body } = decoded
  const { position, record, isWitnessed } = recorded
  const { parameters, networkId, slots } = rules
  const transaction = openTransaction(block, position)

  yield* unreadableParts(block, recorded, decoded)
  if (isWitnessed) yield* strangeWitnesses(block, recorded)
  if (fitOf(body.validityInterval, intervalOf(block.header, slots)) !== 'within')
    yield { fraud: 'outsideInterval', transaction }
  for (const key of forbiddenFields(decoded)) yield { fraud: 'forbiddenField', transaction, key }
  if (body.networkId !== undefined && body.networkId !== networkId)
    yield { fraud: 'wrongNetwork', transaction }
  const isForbidden = ({ account, lovelace }: (typeof body.withdrawals)[number]) =>
    lovelace > 0n ||
    account.networkId !== networkId ||
    account.kind !== 'reward' ||
    account.stake.kind === 'key'
  if (body.withdrawals.some(isForbidden)) yield { fraud: 'forbiddenWithdrawal', transaction }
  if (body.inputs.length === 0) yield { fraud: 'noInputs', transaction }
  // Version 11 allows it.
  const read = parameters.ledgerVersion.major < 11 ? body.referenceInputs.map(outputReferenceKey) : []
  for (const [input, key] of body.inputs.map(outputReferenceKey).entries()) {
    const referenceInput = read.indexOf(key)
    if (referenceInput >= 0) yield { fraud: 'inputIsReferenceInput', transaction, input, referenceInput }
  }
  for (const [output, paid] of outputsIn(decoded)) {
    const { address, value } = paid
    if (value.lovelace < minimumLovelace(paid, parameters))
      yield { fraud: 'outputTooSmall', transaction, output }
    if (address.kind === 'byron' ? isDecoded : address.networkId !== networkId)
      yield { fraud: 'outputOnOtherNetwork', transaction, output }
  }

  const resolved = resolvedIn(record, decoded, outputOf)
  if (isWitnessed && hasWitnesses)
    for (const parts of lowFees(decoded, rules, resolved))
      yield { fraud: 'feeTooSmall', transaction, ...parts }
  const count = resolved && unreadableCount(resolved)
  if (resolved && count !== undefined) {
    const part = { record: openRecord(block, position), resolved: firstOf(resolved, count) }
    yield { fraud: 'unreadablePart', part }
  }
  if (resolved === undefined || validateProfile(decoded).some(({ predicate }) => movesAda.has(predicate)))
    return
  const spent = resolved.slice(0, body.inputs.length)
  const shown = firstOf(resolved, spent.length)
  for (const asset of unbalanced(decoded, spent))
    yield { fraud: 'valueNotPreserved', transaction, resolved: shown, asset }
}

/** Further parts of a body that affect a value: a transaction with these breaks other rules. */
const movesAda = new Set([
  'CertificatesNotSupported',
  'WithdrawalsNotSupported',
  'ProposalsNotSupported',
  'DonationsNotSupported',
])

/** Predicates of the profile, by the frauds that they are. */
const unreadable = new Set(['TooManyItems', 'TooManyBytes', 'LongHeadsNotSupported'])
const tooMany = {
  body: new Set(['TooManyInputs', 'TooManyOutputs']),
  'witness set': new Set([
    'TooManyKeyWitnesses',
    'TooManyScriptWitnesses',
    'TooManyDatums',
    'TooManyRedeemers',
  ]),
} as const

function* unreadableParts(
  block: AccusedBlock,
  { position, isWitnessed }: Recorded,
  decoded: Transaction,
): Generator<TransactionFraudProof, void> {
  const failures = validateProfile(decoded)
  const { bytes: witnessSet } = decoded.witnesses
  const opened = {
    body: () => openTransaction(block, position),
    'witness set': () => ({ record: openRecord(block, position), witnessSet }),
  }
  for (const part of isWitnessed ? (['body', 'witness set'] as const) : (['body'] as const)) {
    if (failures.some(({ predicate, details }) => unreadable.has(predicate) && details.part === part))
      yield { fraud: 'unreadablePart', part: opened[part]() }
    if (failures.some(({ predicate }) => tooMany[part].has(predicate)))
      yield { fraud: 'tooMany', part: opened[part]() }
  }
  if (!failures.some(({ predicate }) => predicate === 'IndefiniteReferencesNotSupported')) return
  const { body } = decoded
  for (const set of ['inputs', 'collateralInputs', 'referenceInputs'] as const) {
    for (const [index, { transactionId }] of body[set].entries()) {
      // Before the id come its head of two bytes and the head of the array.
      const head = body.bytes[transactionId.byteOffset - body.bytes.byteOffset - 3]
      if (head === 0x82) continue
      yield { fraud: 'unreadableReference', transaction: openTransaction(block, position), set, index }
    }
  }
}

/** Keys of the CDDL. */
function* forbiddenFields({ body }: Transaction): Generator<number, void> {
  if (body.certificates.length > 0) yield 4
  if (body.votingProcedures.length > 0) yield 19
  if (body.proposalProcedures.length > 0) yield 20
  if (body.currentTreasury !== undefined) yield 21
  if (body.treasuryDonation > 0n) yield 22
}

function* outputsIn({ body }: Transaction): Generator<readonly [OutputPlace, TransactionOutput], void> {
  yield* body.outputs.entries()
  if (body.collateralReturn) yield ['collateralReturn', body.collateralReturn]
}

/** The outputs of inputs and reference inputs, in body order; undefined if unknown or not those recorded. */
function resolvedIn(
  record: TransactionRecord,
  { body }: Transaction,
  outputOf: (key: Uint8Array) => Uint8Array | undefined,
): readonly Uint8Array[] | undefined {
  const outputs: Uint8Array[] = []
  for (const key of [...body.inputs, ...body.referenceInputs].map(encodeOutputReference)) {
    const output = outputOf(key)
    if (output === undefined) return undefined
    outputs.push(output)
  }
  const isRecorded = equalBytes(blake2b256(concatBytes(...outputs.map(blake2b256))), record.resolved)
  return isRecorded ? outputs : undefined
}

/** How many of the first resolved outputs are too much for layer 1; undefined if all are not. */
function unreadableCount(resolved: readonly Uint8Array[]): number | undefined {
  const isUnreadable = (count: number) =>
    validatePart('resolved outputs', resolved.slice(0, count)).length > 0
  if (!isUnreadable(resolved.length)) return undefined
  return resolved.findIndex((_output, place) => isUnreadable(place + 1)) + 1
}

const firstOf = (resolved: readonly Uint8Array[], count: number): ResolvedOutputs => ({
  outputs: resolved.slice(0, count),
  hashes: concatBytes(...resolved.slice(count).map(blake2b256)),
})

type LowFee = Pick<
  Extract<TransactionFraudProof, { fraud: 'feeTooSmall' }>,
  'witnessSet' | 'auxiliaryData' | 'resolved'
>

/** The proofs of a low fee: with and without auxiliary data and reference scripts, where that suffices. */
function lowFees(
  decoded: Transaction,
  { parameters }: ProvableRules,
  resolved: readonly Uint8Array[] | undefined,
): LowFee[] {
  const { body, witnesses, auxiliaryData } = decoded
  // In version 11 an output may be both input and reference input: equal ones count once, as in the policy.
  const isCounted = (output: Uint8Array, i: number) =>
    parameters.ledgerVersion.major < 11 || resolved?.findIndex((each) => equalBytes(each, output)) === i
  const sizes = resolved?.map((output, i) =>
    isCounted(output, i) ? (readOutput(output).referenceScript?.bytes.length ?? 0) : 0,
  )
  const count = 1 + (sizes?.findLastIndex((size) => size > 0) ?? -1)
  const total = sizes?.reduce((sum, size) => sum + size, 0) ?? 0
  const sets: LowFee[] = []
  for (const data of auxiliaryData === undefined ? [undefined] : [undefined, auxiliaryData.bytes]) {
    for (const shown of resolved === undefined || count === 0
      ? [undefined]
      : [undefined, firstOf(resolved, count)]) {
      const unseen = auxiliaryData === undefined || data ? 0 : auxiliaryData.bytes.length - 1
      const least = minimumFee(decoded, parameters, shown ? total : 0) - parameters.minFeeA * BigInt(unseen)
      if (body.fee >= least) continue
      sets.push({
        witnessSet: witnesses.bytes,
        ...(data && { auxiliaryData: data }),
        ...(shown && { resolved: shown }),
      })
    }
  }
  return sets
}

/** The assets of which a transaction consumes another amount than it produces. */
function unbalanced({ body }: Transaction, spent: readonly Uint8Array[]): Asset[] {
  const surplus = new Map<string, bigint>([['', -body.fee]])
  const add = (unit: string, quantity: bigint) => surplus.set(unit, (surplus.get(unit) ?? 0n) + quantity)
  const addAll = (assets: Transaction['body']['mint'], sign: bigint) => {
    for (const [policy, names] of assets)
      for (const [name, quantity] of names) add(policy + name, sign * quantity)
  }
  const addOutput = ({ value }: TransactionOutput, sign: bigint) => {
    add('', sign * value.lovelace)
    addAll(value.assets, sign)
  }
  for (const output of spent) addOutput(readOutput(output), 1n)
  for (const output of body.outputs) addOutput(output, -1n)
  addAll(body.mint, 1n)
  return [...surplus].filter(([, quantity]) => quantity !== 0n).map(([unit]) => assetOf(unit))
}

function assetOf(unit: string): Asset {
  if (unit === '') return {}
  const { policy, name } = splitUnit(unit)
  return { policy: fromHex(policy), name: fromHex(name) }
}
