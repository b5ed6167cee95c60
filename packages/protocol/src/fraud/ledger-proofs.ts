import { chunkKey, type Header, headerHash, headerToData } from '@ratatosk/block'
import { concatBytes } from '@ratatosk/cbor'
import { ChunkFlaw, LedgerFraud, LedgerPart } from '@ratatosk/contracts'
import { blake2b256 } from '@ratatosk/ledger'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { Proof } from '@ratatosk/trie'
import type { AccusedBlock } from './accused-block.js'
import {
  type Absent,
  inParts,
  numberKey,
  type OutputOpening,
  optionData as option,
  type RecordOpening,
  recordData as record,
  recordData,
  type SuppliedBytes,
  stepsData as steps,
  stepsData,
  suppliedData,
  type TransactionOpening,
  transactionData as transaction,
  transactionData,
  type UnspentOpening,
  unspentData as unspent,
} from './openings.js'
import type { ProofPart } from './smallest-proof.js'
import { type PartOpening, partData } from './transaction-proofs.js'

/**
 * A fraud in what a block does to outputs, and its proof: an argument of the ledger policy. `key` is the
 * CBOR of an output reference; `index` counts inputs, reference inputs or outputs in the order of the
 * body.
 */
export type LedgerFraudProof =
  /** The input is noted as spent by another transaction, or not at all. */
  | {
      readonly fraud: 'inputSpentElsewhere'
      readonly transaction: TransactionOpening
      readonly index: number
      readonly output: OutputOpening
    }
  /**
   * The output is noted as spent by a transaction that is not in the block, or lacks such an input; or as one
   * that leaves layer 2, and is not among the withdrawals.
   */
  | {
      readonly fraud: 'spentWithoutInput'
      readonly key: Uint8Array
      readonly output: OutputOpening
      readonly spender: TransactionOpening | Absent | { readonly withdrawals: UnspentOpening }
    }
  /** The output is not noted, as made by another transaction, or with another hash. */
  | {
      readonly fraud: 'outputNotNoted'
      readonly transaction: TransactionOpening
      readonly index: number
      readonly output: OutputOpening
    }
  /**
   * The output is noted as made by a transaction that is not in the block, has another id, or fewer outputs.
   */
  | {
      readonly fraud: 'inventedOutput'
      readonly key: Uint8Array
      readonly output: OutputOpening
      readonly maker:
        | Absent
        | RecordOpening
        | { readonly transaction: TransactionOpening; readonly index: number }
    }
  /**
   * The output is noted as not made by the block, no deposit brings it, and it is unspent in the block, was
   * not unspent before it, or was another. `before` is needed if the block notes it as spent.
   */
  | {
      readonly fraud: 'strayFromBefore'
      readonly key: Uint8Array
      readonly output: OutputOpening
      readonly before?: UnspentOpening
      readonly deposits: UnspentOpening
    }
  /** The output is spent by the transaction that makes it, or by one before. */
  | { readonly fraud: 'spentBeforeMade'; readonly key: Uint8Array; readonly output: OutputOpening }
  /**
   * The outputs unspent after the block do not follow. `path` is the Blake2b-256 of an output's reference,
   * which may be unknown; `before` is needed if the block does not note the output.
   */
  | {
      readonly fraud: 'wrongOutputsAfter'
      readonly path: Uint8Array
      readonly output: OutputOpening
      readonly before?: UnspentOpening
      readonly after: UnspentOpening
    }
  /**
   * One of the hashes of what the inputs and, behind them, the reference inputs stand for is not that of the
   * output. `hashes` are those that the record commits to, 32 bytes each; `before` is needed if the block
   * does not note the output.
   */
  | {
      readonly fraud: 'wrongResolved'
      readonly transaction: TransactionOpening
      readonly index: number
      readonly hashes: Uint8Array
      readonly output: OutputOpening
      readonly before?: UnspentOpening
    }
  /**
   * The output of a reference input is spent before, made later, or was never there. `before` is needed as
   * above.
   */
  | {
      readonly fraud: 'referenceInputMissing'
      readonly transaction: TransactionOpening
      readonly index: number
      readonly output: OutputOpening
      readonly before?: UnspentOpening
    }
  /** There is a transaction, but none at a position before. */
  | {
      readonly fraud: 'gapInTransactions'
      readonly position: number
      readonly absent: Proof
      readonly later: RecordOpening
    }
  /** An entry of the transactions map is not that of a transaction, a chunk or an output. */
  | {
      readonly fraud: 'strangeEntry'
      readonly key: Uint8Array
      readonly value: Uint8Array
      readonly proof: Proof
    }
  /**
   * The fees so far are not those before and the transaction's own. `previous` is undefined for the first
   * transaction.
   */
  | {
      readonly fraud: 'wrongFees'
      readonly transaction: TransactionOpening
      readonly previous?: RecordOpening
    }
  /**
   * The hash of what inputs and, behind them, reference inputs stand for is not that of the outputs, which
   * tokens show. `holders` are the indexes of the reference inputs that hold these; by default, the first
   * ones in order.
   */
  | {
      readonly fraud: 'wrongResolvedHash'
      readonly resolutions: readonly [Resolution, ...Resolution[]]
      readonly holders?: readonly number[]
    }
  /** The record has another length than the body or witness set. */
  | { readonly fraud: 'wrongLength'; readonly part: PartOpening }
  /** The record has a length of the body or witness set that layer 2 does not allow. */
  | { readonly fraud: 'tooLong'; readonly record: RecordOpening }
  /** The chunks are not those of the transactions. */
  | { readonly fraud: 'wrongChunk'; readonly flaw: ChunkFlawProof }

/**
 * The redeemer of the ledger policy that proves a fraud.
 *
 * @param header of the block; the verdict's name is its hash
 * @returns Plutus data CBOR
 */
export const encodeLedgerFraudProof = (header: Header, proof: LedgerFraudProof): Uint8Array =>
  encodePlutusData(constr(LedgerFraud[proof.fraud], headerToData(header), ...fieldsOf(proof)))

/** The parts whose tokens a proof refers to, in its order; of most proofs, none. */
export const proofParts = (
  header: Header,
  proof: { readonly fraud: string } | LedgerFraudProof,
): readonly ProofPart[] =>
  'resolutions' in proof
    ? proof.resolutions.map((part) => ({
        name: resolutionName(header, part),
        redeemer: encodeResolution(header, part),
      }))
    : []

function fieldsOf(proof: LedgerFraudProof): PlutusData[] {
  switch (proof.fraud) {
    case 'inputSpentElsewhere':
    case 'outputNotNoted':
      return [transaction(proof.transaction), BigInt(proof.index), option(proof.output.record, proof.output)]
    case 'spentWithoutInput': {
      const { key, output, spender } = proof
      return [key, option(output.record, output), spenderOf(spender)]
    }
    case 'inventedOutput': {
      const { key, output, maker } = proof
      return [key, option(output.record, output), makerOf(maker)]
    }
    case 'strayFromBefore': {
      const { key, output, before, deposits } = proof
      return [key, option(output.record, output), unspent(before), unspent(deposits)]
    }
    case 'spentBeforeMade':
      return [proof.key, option(proof.output.record, proof.output)]
    case 'wrongOutputsAfter': {
      const { path, output, before, after } = proof
      return [path, option(output.record, output), unspent(before), unspent(after)]
    }
    case 'wrongResolved': {
      const { index, hashes, output, before } = proof
      return [
        transaction(proof.transaction),
        BigInt(index),
        hashes,
        option(output.record, output),
        unspent(before),
      ]
    }
    case 'referenceInputMissing': {
      const { index, output, before } = proof
      return [transaction(proof.transaction), BigInt(index), option(output.record, output), unspent(before)]
    }
    case 'gapInTransactions':
      return [BigInt(proof.position), steps(proof.absent), ...record(proof.later)]
    case 'strangeEntry':
      return [partsData(proof.key), partsData(proof.value), steps(proof.proof)]
    case 'wrongFees': {
      const { previous } = proof
      return [transaction(proof.transaction), previous ? constr(0, ...record(previous)) : constr(1)]
    }
    case 'wrongResolvedHash': {
      const { resolutions, holders } = proof
      const parts = resolutions.map((part, place): PlutusData => {
        const next = BigInt(part.first + part.outputs.length)
        return [resolvedHashes(part), next, BigInt(holders?.[place] ?? place)]
      })
      return [...record(resolutions[0].transaction), parts]
    }
    case 'wrongLength':
      return [partData(proof.part)]
    case 'tooLong':
      return record(proof.record)
    case 'wrongChunk':
      return [chunkFlawData(proof.flaw)]
  }
}

const partsData = (bytes: Uint8Array): PlutusData[] => inParts(bytes).map(suppliedData)

function spenderOf(
  spender: Extract<LedgerFraudProof, { fraud: 'spentWithoutInput' }>['spender'],
): PlutusData {
  if ('absent' in spender) return constr(1, steps(spender.absent))
  if ('withdrawals' in spender) return constr(2, unspent(spender.withdrawals))
  return constr(0, transaction(spender))
}

function makerOf(maker: Extract<LedgerFraudProof, { fraud: 'inventedOutput' }>['maker']): PlutusData {
  if ('absent' in maker) return constr(0, steps(maker.absent))
  if ('transaction' in maker) return constr(2, transaction(maker.transaction), BigInt(maker.index))
  return constr(1, ...record(maker))
}

/** A chunk's record in the transactions map of a block, proven. */
export interface ChunkOpening {
  /** From 0, below 2^32. */
  readonly number: number
  /** The encoded record, 49 bytes. */
  readonly record: Uint8Array
  readonly proof: Proof
}

/** A chunk and its bytes. */
export interface ShownChunk extends ChunkOpening {
  /** One behind the other. */
  readonly parts: readonly SuppliedBytes[]
}

/** A flaw in the chunks of a block. */
export type ChunkFlawProof =
  /** Two chunks disagree about the number of chunks. */
  | { readonly flaw: 'countsDiffer'; readonly chunk: ChunkOpening; readonly other: ChunkOpening }
  /** The chunk is beyond the number of chunks, or is the first and does not begin at position 0. */
  | { readonly flaw: 'misplaced'; readonly chunk: ChunkOpening }
  /** There is no such chunk, although a chunk counts it or, for the first, there is a transaction. */
  | {
      readonly flaw: 'missing'
      readonly number: number
      readonly absent: Proof
      readonly holder: ChunkOpening | RecordOpening
    }
  /** The next chunk does not begin where the chunk ends. */
  | { readonly flaw: 'nextElsewhere'; readonly chunk: ShownChunk; readonly next: ChunkOpening }
  /** There is a transaction behind the last chunk. */
  | { readonly flaw: 'transactionsLeft'; readonly chunk: ShownChunk; readonly record: RecordOpening }
  /** The chunk has a transaction at a position without a record. */
  | {
      readonly flaw: 'inventedTransaction'
      readonly chunk: ShownChunk
      readonly absent: Absent & { readonly position: number | bigint }
    }
  /** The chunk has another body or witness set than the record of the transaction. */
  | { readonly flaw: 'otherTransaction'; readonly chunk: ShownChunk; readonly record: RecordOpening }
  /** The bytes behind a witness set do not follow from the body. `place` counts in the chunk. */
  | { readonly flaw: 'strangeRest'; readonly chunk: ShownChunk; readonly place: number }
  /** The chunk has no transactions, other frames, or is too long for its transactions. */
  | { readonly flaw: 'malformed'; readonly chunk: ShownChunk }
  /** The chunk has room for the next transaction. `rest` is what follows the witness set of that. */
  | {
      readonly flaw: 'tooShort'
      readonly chunk: ShownChunk
      readonly next: TransactionOpening
      readonly rest: SuppliedBytes
    }

/** The record of a chunk, proven. @throws RangeError if the block has no such chunk */
export function openChunk(block: AccusedBlock, number: number): ChunkOpening {
  const key = chunkKey(number)
  const record = block.valueOf(key)
  if (record === undefined) throw new RangeError(`The block has no chunk ${number}`)
  return { number, record, proof: block.map.prove(key) }
}

function chunkFlawData(proof: ChunkFlawProof): PlutusData {
  const fields = chunkFieldsOf(proof)
  return constr(ChunkFlaw[proof.flaw], ...fields)
}

const chunkData = ({ number, record, proof }: ChunkOpening): PlutusData[] => [
  BigInt(number),
  record,
  stepsData(proof),
]

const shownData = ({ parts, ...chunk }: ShownChunk): PlutusData[] => [
  ...chunkData(chunk),
  parts.map(suppliedData),
]

function chunkFieldsOf(proof: ChunkFlawProof): PlutusData[] {
  switch (proof.flaw) {
    case 'countsDiffer':
      return [chunkData(proof.chunk), chunkData(proof.other)]
    case 'misplaced':
      return [chunkData(proof.chunk)]
    case 'missing': {
      const { number, absent, holder } = proof
      const shown = 'number' in holder ? constr(0, chunkData(holder)) : constr(1, recordData(holder))
      return [BigInt(number), stepsData(absent), shown]
    }
    case 'nextElsewhere':
      return [shownData(proof.chunk), chunkData(proof.next)]
    case 'transactionsLeft':
    case 'otherTransaction':
      return [shownData(proof.chunk), recordData(proof.record)]
    case 'inventedTransaction': {
      const { absent, position } = proof.absent
      return [shownData(proof.chunk), [BigInt(position), stepsData(absent)]]
    }
    case 'strangeRest':
      return [shownData(proof.chunk), BigInt(proof.place)]
    case 'malformed':
      return [shownData(proof.chunk)]
    case 'tooShort':
      return [shownData(proof.chunk), [transactionData(proof.next), suppliedData(proof.rest)]]
  }
}

/** The output of one input or reference input. `before` is needed if the block does not note the output. */
export interface ResolvedOpening {
  readonly output: OutputOpening
  readonly before?: UnspentOpening
}

/**
 * A part of a proof of `wrongResolvedHash`: what some consecutive inputs and, behind them, reference inputs
 * stand for. The ledger policy mints a token that shows it, to which the proof then refers.
 */
export interface Resolution {
  readonly transaction: TransactionOpening
  /** The place of the first of these references among all of the transaction. */
  readonly first: number
  readonly outputs: readonly ResolvedOpening[]
  /** Whether no reference follows. */
  readonly isLast: boolean
}

/**
 * Steps of the proofs of a part, and references. The maker of an output chooses how many steps lead to it: a
 * step costs layer 1 up to 0.4 % of a transaction's memory, a reference 0.9 %, and 138 and 70 bytes.
 */
const stepsInPart = 64
const referencesInPart = 16

/** The parts that show what all references of a transaction stand for, from the one at `first` on. */
export function resolutionsOf(
  transaction: TransactionOpening,
  outputs: readonly ResolvedOpening[],
  first = 0,
): readonly [Resolution, ...Resolution[]] {
  let [count, steps] = [0, 0]
  for (const { output, before } of outputs.slice(first, first + referencesInPart)) {
    steps += output.proof.length + (before?.proof.length ?? 0)
    if (count > 0 && steps > stepsInPart) break
    count++
  }
  const next = first + count
  const isLast = next === outputs.length
  const part = { transaction, first, outputs: outputs.slice(first, next), isLast }
  return isLast ? [part] : [part, ...resolutionsOf(transaction, outputs, next)]
}

/** The redeemer of the ledger policy that mints the token of a part. @returns Plutus data CBOR */
export const encodeResolution = (
  header: Header,
  { transaction: opening, first, outputs }: Omit<Resolution, 'isLast'>,
): Uint8Array =>
  encodePlutusData(
    constr(
      LedgerPart.resolution,
      headerToData(header),
      transaction(opening),
      BigInt(first),
      outputs.map(({ output, before }): PlutusData => [option(output.record, output), unspent(before)]),
    ),
  )

/** The name of the token of a part, 32 bytes. */
export function resolutionName(header: Header, resolution: Resolution): Uint8Array {
  const { transaction, first, outputs, isLast } = resolution
  return blake2b256(
    concatBytes(
      headerHash(header),
      numberKey(BigInt(transaction.position)),
      numberKey(BigInt(first)).subarray(4),
      numberKey(BigInt(first + outputs.length)).subarray(4),
      Uint8Array.of(Number(isLast)),
      resolvedHashes(resolution),
    ),
  )
}

/** The hashes of the outputs of a part; a reference to nothing adds none. */
const resolvedHashes = ({ outputs }: Pick<Resolution, 'outputs'>): Uint8Array =>
  concatBytes(
    ...outputs.map(({ output, before }) => output.record?.subarray(16) ?? before?.hash ?? new Uint8Array()),
  )
