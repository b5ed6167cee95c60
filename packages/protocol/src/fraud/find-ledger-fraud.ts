import {
  maxChunks,
  mostInParts,
  outputRecordLength,
  type TransactionRecord,
  transactionKey,
} from '@ratatosk/block'
import { concatBytes, equalBytes } from '@ratatosk/cbor'
import { blake2b256, decodeOutputReference, encodeOutputReference, profileLimits } from '@ratatosk/ledger'
import type { Proof, TrieView } from '@ratatosk/trie'
import type { AccusedBlock } from './accused-block.js'
import { chunkFlaws } from './find-chunk-fraud.js'
import {
  encodeLedgerFraudProof,
  type LedgerFraudProof,
  proofParts,
  type ResolvedOpening,
  resolutionsOf,
} from './ledger-proofs.js'
import {
  numberIn,
  numberKey,
  openEvent,
  openOutput,
  openRecord,
  openTransaction,
  openUnspent,
} from './openings.js'
import { movedAt } from './read-at.js'
import { isChunkEntry, readChunk, readKnownChunks, recordedAt, transactionRecordIn } from './recorded.js'
import { type FoundFraud, firstFound, type Search, smallestFirst, step } from './smallest-proof.js'

/**
 * Looks for a fraud in what a block does to outputs, and returns the smallest of the first proofs;
 * undefined if there is none.
 *
 * A wrong hash of what inputs stand for is found as `wrongResolvedHash`: `wrongResolved` needs hashes that
 * only the operator may know. Without `after`, nothing is found in the outputs after the block. No claim
 * shows that deposits or withdrawals are not those of layer 1 and of the transactions. The proof is not
 * evaluated: do that before it is sent.
 */
export const findLedgerFraud = (block: AccusedBlock): FoundFraud<LedgerFraudProof> | undefined =>
  firstFound(ledgerFrauds(block))

/** All frauds that {@link findLedgerFraud} could find. */
export const ledgerFrauds = (block: AccusedBlock): Search<LedgerFraudProof> =>
  smallestFirst(
    fraudsIn(block),
    (proof) => encodeLedgerFraudProof(block.header, proof),
    (proof) => proofParts(block.header, proof),
  )

/** The record of an output, with the numbers as they are encoded: any 64 bits. */
interface OutputRecord {
  /** One more than a position; 0 for none. */
  readonly created: bigint
  readonly spent: bigint
  readonly hash: Uint8Array
}

function* fraudsIn(block: AccusedBlock): Generator<LedgerFraudProof | typeof step, void> {
  yield* readKnownChunks(block)
  const records = new Map<bigint, TransactionRecord>()
  for (const [key, value] of block.entriesOfMap()) {
    yield step
    if (isChunkEntry(key, value) && readChunk(key, value).count <= maxChunks) continue
    const entry = readEntry(key, value)
    if (entry === undefined && key.length + value.length <= mostInParts)
      yield { fraud: 'strangeEntry', key, value, proof: block.map.prove(key) }
    if (entry === undefined) continue
    if ('position' in entry) records.set(entry.position, entry.record)
  }
  yield* gapsIn(block, records)
  yield* wrongLengthsIn(block, records)
  for (const [position, record] of records) {
    yield step
    yield* fraudsOfTransaction(block, records, Number(position), record)
  }
  for (const [key, value] of block.entriesOfMap()) {
    yield step
    const entry = readEntry(key, value)
    if (entry !== undefined && !('position' in entry))
      yield* fraudsOfOutput(block, records, key, entry.record)
  }
  for (const flaw of chunkFlaws(block)) yield flaw && { fraud: 'wrongChunk', flaw }
  const { after, keys = [] } = block
  if (after === undefined) return
  for (const key of keys) {
    yield step
    if (block.valueOf(key) === undefined && !sameHash(block.before.valueHash(key), after.valueHash(key)))
      yield wrongOutputsAfter(block, after, key)
  }
}

type Entry =
  | { readonly position: bigint; readonly record: TransactionRecord }
  | { readonly record: OutputRecord }

/** `spent` of an output that leaves layer 2 through the bridge. */
const throughBridge = 2n ** 63n

/** An entry of the transactions map; undefined if it is neither a transaction's nor an output's. */
function readEntry(key: Uint8Array, value: Uint8Array): Entry | undefined {
  try {
    if (key.length === 8) {
      const record = transactionRecordIn(value)
      return record && { position: numberIn(key), record }
    }
    if (!equalBytes(encodeOutputReference(decodeOutputReference(key)), key)) return undefined
    if (value.length !== outputRecordLength) return undefined
    const view = new DataView(value.buffer, value.byteOffset)
    const [created, spent] = [view.getBigUint64(0), view.getBigUint64(8)]
    return { record: { created, spent, hash: value.subarray(16) } }
  } catch {
    return undefined
  }
}

function* gapsIn(
  block: AccusedBlock,
  records: ReadonlyMap<bigint, TransactionRecord>,
): Generator<LedgerFraudProof | typeof step, void> {
  let later = -1n
  for (const each of records.keys()) {
    yield step
    if (each > later) later = each
  }
  let position = 0
  for (; block.valueOf(transactionKey(position)) !== undefined; position++) yield step
  if (later < position) return
  const absent = block.map.proveAbsence(transactionKey(position))
  yield { fraud: 'gapInTransactions', position, absent, later: openRecord(block, later) }
}

function* wrongLengthsIn(
  block: AccusedBlock,
  records: ReadonlyMap<bigint, TransactionRecord>,
): Generator<LedgerFraudProof | typeof step, void> {
  for (const [position, { bodyLength, witnessSetLength }] of records) {
    yield step
    if (bodyLength > profileLimits.bodyBytes || witnessSetLength > profileLimits.witnessSetBytes)
      yield { fraud: 'tooLong', record: openRecord(block, position) }
    const recorded = recordedAt(block, Number(position))
    if (recorded === undefined) continue
    const { body, witnessSet } = recorded.parts
    if (body.length !== bodyLength)
      yield { fraud: 'wrongLength', part: openTransaction(block, recorded.position) }
    if (recorded.isWitnessed && witnessSet.length !== witnessSetLength)
      yield { fraud: 'wrongLength', part: { record: openRecord(block, position), witnessSet } }
  }
}

function* fraudsOfTransaction(
  block: AccusedBlock,
  records: ReadonlyMap<bigint, TransactionRecord>,
  position: number,
  record: TransactionRecord,
): Generator<LedgerFraudProof, void> {
  const moved = movedIn(block, position)
  if (moved === undefined) return
  const { inputs, referenceInputs, outputs, fee } = moved
  /** Opened only for a fraud: what a block does not show has to be asked for. */
  const transaction = () => openTransaction(block, position)
  /** The transaction's number in records of outputs. */
  const own = BigInt(position) + 1n
  for (const [index, key] of inputs.map(encodeOutputReference).entries()) {
    if (outputIn(block, key)?.spent !== own)
      yield {
        fraud: 'inputSpentElsewhere',
        transaction: transaction(),
        index,
        output: openOutput(block, key),
      }
  }
  for (const [index, key] of referenceInputs.map(encodeOutputReference).entries()) {
    const noted = outputIn(block, key)
    const missing = noted ? noted.created >= own || isGoneBefore(noted, own) : !block.before.has(key)
    if (missing) {
      const [output, before] = [openOutput(block, key), openUnspent(block.before, key)]
      yield { fraud: 'referenceInputMissing', transaction: transaction(), index, output, before }
    }
  }
  for (const [index, output] of outputs.entries()) {
    const key = encodeOutputReference({ transactionId: record.id, index })
    const noted = outputIn(block, key)
    if (noted?.created !== own || !equalBytes(noted.hash, blake2b256(output)))
      yield { fraud: 'outputNotNoted', transaction: transaction(), index, output: openOutput(block, key) }
  }
  const read = [...inputs, ...referenceInputs].map(encodeOutputReference)
  const hashes = read.map((key) => outputIn(block, key)?.hash ?? block.before.valueHash(key))
  if (!equalBytes(record.resolved, blake2b256(concatBytes(...hashes.filter((hash) => hash !== undefined))))) {
    const outputs = read.map((key) => openResolved(block, key))
    yield { fraud: 'wrongResolvedHash', resolutions: resolutionsOf(transaction(), outputs) }
  }
  const previous = records.get(BigInt(position) - 1n)
  if (position > 0 && previous === undefined) return
  if (record.feesSoFar === (previous?.feesSoFar ?? 0n) + fee) return
  yield {
    fraud: 'wrongFees',
    transaction: transaction(),
    ...(position > 0 && { previous: openRecord(block, position - 1) }),
  }
}

/** Whether an output is spent before a transaction, or left layer 2. */
const isGoneBefore = ({ spent }: OutputRecord, transaction: bigint): boolean =>
  spent === throughBridge || (spent > 0n && spent < transaction)

/** The output of a reference. */
function openResolved(block: AccusedBlock, key: Uint8Array): ResolvedOpening {
  const output = openOutput(block, key)
  return output.record ? { output } : { output, before: openUnspent(block.before, key) }
}

function* fraudsOfOutput(
  block: AccusedBlock,
  records: ReadonlyMap<bigint, TransactionRecord>,
  key: Uint8Array,
  { created, spent, hash }: OutputRecord,
): Generator<LedgerFraudProof, void> {
  const output = () => openOutput(block, key)
  if (spent > 0n && spent <= created) yield { fraud: 'spentBeforeMade', key, output: output() }
  if (spent === throughBridge) yield* unfoundedDeparture(block, key, hash)
  else if (spent > 0n) {
    const absent = absenceAt(block, spent)
    const [position, spender] = [Number(spent - 1n), records.get(spent - 1n)]
    const moved = spender && movedIn(block, position)
    if (absent) yield { fraud: 'spentWithoutInput', key, output: output(), spender: { absent } }
    else if (moved && !moved.inputs.some((input) => equalBytes(encodeOutputReference(input), key)))
      yield { fraud: 'spentWithoutInput', key, output: output(), spender: openTransaction(block, position) }
  }
  if (created === 0n) {
    const wasThere = sameHash(block.before.valueHash(key), hash)
    if (spent === 0n || !wasThere) yield* strayFromBefore(block, key, hash, spent > 0n)
  } else {
    const absent = absenceAt(block, created)
    const [position, maker] = [Number(created - 1n), records.get(created - 1n)]
    const { transactionId, index } = decodeOutputReference(key)
    const moved = maker && movedIn(block, position)
    if (absent) yield { fraud: 'inventedOutput', key, output: output(), maker: { absent } }
    else if (maker && !equalBytes(maker.id, transactionId))
      yield { fraud: 'inventedOutput', key, output: output(), maker: openRecord(block, created - 1n) }
    else if (moved && index >= moved.outputs.length) {
      const transaction = openTransaction(block, position)
      yield { fraud: 'inventedOutput', key, output: output(), maker: { transaction, index } }
    }
  }
  const { after } = block
  if (after && !sameHash(after.valueHash(key), spent === 0n ? hash : undefined))
    yield wrongOutputsAfter(block, after, key)
}

/** A record says that an output leaves layer 2, and the withdrawals do not have it. */
function* unfoundedDeparture(
  block: AccusedBlock,
  key: Uint8Array,
  hash: Uint8Array,
): Generator<LedgerFraudProof, void> {
  const withdrawals = openEvent(block, 'withdrawals', key)
  if (withdrawals === undefined || sameHash(withdrawals.hash, hash)) return
  yield { fraud: 'spentWithoutInput', key, output: openOutput(block, key), spender: { withdrawals } }
}

/** A record says that an output is from before the block, and no deposit brings it. */
function* strayFromBefore(
  block: AccusedBlock,
  key: Uint8Array,
  hash: Uint8Array,
  isSpent: boolean,
): Generator<LedgerFraudProof, void> {
  const deposits = openEvent(block, 'deposits', key)
  if (deposits === undefined || sameHash(deposits.hash, hash)) return
  const before = isSpent ? { before: openUnspent(block.before, key) } : undefined
  yield { fraud: 'strayFromBefore', key, output: openOutput(block, key), deposits, ...before }
}

function absenceAt(block: AccusedBlock, number: bigint): Proof | undefined {
  const key = numberKey(number - 1n)
  return block.valueOf(key) === undefined ? block.map.proveAbsence(key) : undefined
}

const wrongOutputsAfter = (block: AccusedBlock, after: TrieView, key: Uint8Array): LedgerFraudProof => ({
  fraud: 'wrongOutputsAfter',
  path: blake2b256(key),
  output: openOutput(block, key),
  ...(block.valueOf(key) === undefined && { before: openUnspent(block.before, key) }),
  after: openUnspent(after, key),
})

/** The changes of a transaction whose body is that of its record; undefined without it. */
function movedIn(block: AccusedBlock, position: number) {
  const recorded = recordedAt(block, position)
  return recorded && movedAt(recorded)
}

function outputIn(block: AccusedBlock, key: Uint8Array): OutputRecord | undefined {
  const value = block.valueOf(key)
  const entry = value && readEntry(key, value)
  return entry && !('position' in entry) ? entry.record : undefined
}

const sameHash = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equalBytes(a, b)
