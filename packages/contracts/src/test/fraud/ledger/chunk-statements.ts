import { chunkKey, partsOf } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import {
  type ChunkFlawProof,
  type LedgerFraudProof,
  openChunk,
  openRecord,
  openTransaction,
  type ShownChunk,
} from '@ratatosk/fraud'
import { blake2b256 } from '@ratatosk/ledger'
import { chunksOf } from '../../../../../fraud/dist/test/lying-blocks.js'
import { eight, type TestBlock } from '../blocks.js'

export const ofFlaw = (flaw: ChunkFlawProof): LedgerFraudProof => ({ fraud: 'wrongChunk', flaw })

export function shown(block: TestBlock, number: number): ShownChunk {
  const chunk = openChunk(block, number)
  const hash = toHex(chunk.record.subarray(17))
  const known = [...block.chunks, ...chunksOf(block.transactions)]
  return { ...chunk, parts: [known.find((bytes) => toHex(blake2b256(bytes)) === hash)!] }
}

const absentChunk = (block: TestBlock, number: number) => block.map.proveAbsence(chunkKey(number))

type State = (block: TestBlock) => LedgerFraudProof

export const countsDiffer =
  (one: number, other: number): State =>
  (block) =>
    ofFlaw({ flaw: 'countsDiffer', chunk: openChunk(block, one), other: openChunk(block, other) })

export const misplaced =
  (number: number): State =>
  (block) =>
    ofFlaw({ flaw: 'misplaced', chunk: openChunk(block, number) })

/** @param holder a chunk that counts the missing one; without it, the record of the first transaction */
export const missing =
  (number: number, holder?: number): State =>
  (block) =>
    ofFlaw({
      flaw: 'missing',
      number,
      absent: absentChunk(block, number),
      holder: holder === undefined ? openRecord(block, 0) : openChunk(block, holder),
    })

export const nextElsewhere =
  (number: number, next = number + 1): State =>
  (block) =>
    ofFlaw({ flaw: 'nextElsewhere', chunk: shown(block, number), next: openChunk(block, next) })

export const transactionsLeft =
  (number: number, position: number): State =>
  (block) =>
    ofFlaw({ flaw: 'transactionsLeft', chunk: shown(block, number), record: openRecord(block, position) })

/** @param shownAbsent the position that is shown to be missing */
export const inventedTransaction =
  (number: number, position: number, shownAbsent = position): State =>
  (block) =>
    ofFlaw({
      flaw: 'inventedTransaction',
      chunk: shown(block, number),
      absent: { position, absent: block.map.proveAbsence(eight(BigInt(shownAbsent))) },
    })

export const otherTransaction =
  (number: number, position: number): State =>
  (block) =>
    ofFlaw({ flaw: 'otherTransaction', chunk: shown(block, number), record: openRecord(block, position) })

export const strangeRest =
  (number: number, place: number): State =>
  (block) =>
    ofFlaw({ flaw: 'strangeRest', chunk: shown(block, number), place })

export const malformed =
  (number: number): State =>
  (block) =>
    ofFlaw({ flaw: 'malformed', chunk: shown(block, number) })

export const tooShort =
  (number: number, position: number, rest?: Uint8Array): State =>
  (block) =>
    ofFlaw({
      flaw: 'tooShort',
      chunk: shown(block, number),
      next: openTransaction(block, position),
      rest: rest ?? partsOf(block.transactions[position]!).rest,
    })

export const wrongLength =
  (part: 'body' | 'witness set', position: number): State =>
  (block) => ({
    fraud: 'wrongLength',
    part:
      part === 'body'
        ? openTransaction(block, position)
        : {
            record: openRecord(block, position),
            witnessSet: partsOf(block.transactions[position]!).witnessSet,
          },
  })

export const tooLong =
  (position: number): State =>
  (block) => ({ fraud: 'tooLong', record: openRecord(block, position) })

/** Every flaw that can be stated of the chunks of a block from what it really commits to. */
export function* chunkProofsOf(block: TestBlock): Generator<LedgerFraudProof, void> {
  const { transactions } = block
  const chunks = chunksOf(transactions)
  const positions = transactions.map((_, position) => position)
  const numbers = chunks.map((_, number) => number)
  for (const position of positions) {
    yield tooLong(position)(block)
    for (const part of ['body', 'witness set'] as const) yield wrongLength(part, position)(block)
  }
  for (const number of numbers) {
    yield misplaced(number)(block)
    yield malformed(number)(block)
    for (const beyond of [0, 1, 2 ** 31]) yield missing(chunks.length + beyond, number)(block)
    if (transactions.length > 0) yield missing(chunks.length)(block)
    for (const other of numbers) {
      yield countsDiffer(number, other)(block)
      yield nextElsewhere(number, other)(block)
    }
    for (const beyond of [0, 1, 2 ** 40])
      yield inventedTransaction(number, transactions.length + beyond)(block)
    for (const position of positions) {
      yield transactionsLeft(number, position)(block)
      yield otherTransaction(number, position)(block)
      yield tooShort(number, position)(block)
    }
    for (const place of [-1, ...positions, transactions.length, 2 ** 40])
      yield strangeRest(number, place)(block)
  }
}
