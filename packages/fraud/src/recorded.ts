import {
  decodeTransactionRecord,
  partsOf,
  partsOfFrames,
  type TransactionParts,
  type TransactionRecord,
  transactionKey,
} from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import { blake2b256 } from '@ratatosk/ledger'
import type { AccusedBlock } from './accused-block.js'
import { framesAt } from './known-chunks.js'

/** Bytes that a layer-1 transaction may have: no proof shows a longer body or witness set. */
const mostShown = 16_384

/** Bytes of the transactions of a block whose parts are kept. */
const mostKept = 33_554_432

/** A transaction of a block whose body is the one that its record commits to, so that it can be opened. */
export interface Recorded {
  readonly position: number
  readonly record: TransactionRecord
  readonly parts: TransactionParts
  /** Whether the record commits to its witness set too, and a proof can show it. */
  readonly isWitnessed: boolean
}

interface Known {
  /** As the transaction's CBOR cuts it. */
  readonly parts: TransactionParts
  readonly recorded: Recorded | undefined
  /** The known frames of the transaction's chunk. */
  readonly frames: ReturnType<typeof framesAt>
}

const keptOf = new WeakMap<AccusedBlock, { readonly all: Map<number, Known>; bytes: number }>()

/** The transaction at a position; undefined if the block has another one, or none that a proof can show. */
export const recordedAt = (block: AccusedBlock, position: number): Recorded | undefined =>
  knownAt(block, position)?.recorded

/** The parts of the transaction at a position; undefined if the block has none there. */
export const partsAt = (block: AccusedBlock, position: number): TransactionParts | undefined =>
  knownAt(block, position)?.parts

/** The known parts of a transaction; those of the last requests are kept. */
function knownAt(block: AccusedBlock, position: number): Known | undefined {
  const bytes = block.transactions[position]
  if (bytes === undefined) return undefined
  const kept = keptOf.get(block) ?? { all: new Map<number, Known>(), bytes: 0 }
  keptOf.set(block, kept)
  const frames = framesAt(block, position)
  let known = kept.all.get(position)
  if (known !== undefined) kept.bytes -= bytes.length
  kept.all.delete(position)
  if (known === undefined || known.frames !== frames) {
    const parts = known?.parts ?? partsOf(bytes)
    known = { parts, frames, recorded: recordedOf(block, position, parts) }
  }
  kept.all.set(position, known)
  kept.bytes += bytes.length
  for (const oldest of kept.all.keys()) {
    if (kept.bytes <= mostKept) break
    kept.all.delete(oldest)
    kept.bytes -= (block.transactions[oldest] as Uint8Array).length
  }
  return known
}

function recordedOf(block: AccusedBlock, position: number, own: TransactionParts): Recorded | undefined {
  const record = transactionRecordIn(block.valueOf(transactionKey(position)))
  if (record === undefined) return undefined
  let found: Recorded | undefined
  for (const parts of cutsOf(block, position, own, record)) {
    if (parts.body.length > mostShown || !equalBytes(record.id, parts.id)) continue
    const { length } = parts.witnessSet
    const isWitnessed = length <= mostShown && equalBytes(record.witnessSetHash, blake2b256(parts.witnessSet))
    const recorded = { position, record, parts, isWitnessed }
    if (isWitnessed) return recorded
    found ??= recorded
  }
  return found
}

/** A transaction as its CBOR, a known chunk and the lengths of its record cut it. */
function* cutsOf(
  block: AccusedBlock,
  position: number,
  own: TransactionParts,
  { bodyLength, witnessSetLength }: TransactionRecord,
): Generator<TransactionParts, void> {
  yield own
  const frames = framesAt(block, position)
  if (frames && frames.body.length <= mostShown) yield partsOfFrames(frames)
  if (bodyLength > mostShown) return
  if (bodyLength === own.body.length && witnessSetLength === own.witnessSet.length) return
  const behind = (block.transactions[position] as Uint8Array).subarray(1)
  const end = bodyLength + witnessSetLength
  if (end > behind.length) return
  const [body, witnessSet] = [behind.subarray(0, bodyLength), behind.subarray(bodyLength, end)]
  yield partsOfFrames({ body, witnessSet, rest: behind.subarray(end) })
}

/** A transaction's record in a value of the transactions map; undefined for any other value. */
export function transactionRecordIn(value: Uint8Array | undefined): TransactionRecord | undefined {
  try {
    const record = value && decodeTransactionRecord(value)
    return record?.kind === 'transaction' ? record : undefined
  } catch (error) {
    // A fraud that the ledger policy proves.
    if (error instanceof RangeError) return undefined
    throw error
  }
}
