import { type Header, headerToData } from '@ratatosk/block'
import { LedgerFraud } from '@ratatosk/contracts'
import { constr, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'
import type { Proof } from '@ratatosk/trie'
import { type ChunkFlawProof, chunkFlawData } from './chunk-proofs.js'
import {
  type Absent,
  type OutputOpening,
  optionData as option,
  type RecordOpening,
  recordData as record,
  stepsData as steps,
  suppliedData,
  type TransactionOpening,
  transactionData as transaction,
  type UnspentOpening,
  unspentData as unspent,
} from './openings.js'
import { encodeResolution, type Resolution, resolutionName, resolvedHashes } from './resolutions.js'
import type { ProofPart } from './smallest-proof.js'
import { inParts } from './supplied-bytes.js'
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
