import type { Block, BlockState } from './types.js'

/** What a block's row is read as. */
export const blockColumns = `
  id, height, state, header_hash AS "headerHash", header, previous_header_hash AS "previousHeaderHash",
  utxos_root AS "utxosRoot", start_time AS "startTime", end_time AS "endTime", first_sequence AS "firstSequence",
  last_sequence AS "lastSequence", transactions, commit_transaction_id AS "commitTransactionId",
  commit_transaction AS "commitTransaction", merge_transaction_id AS "mergeTransactionId",
  merge_transaction AS "mergeTransaction", built_at AS "builtAt", merged_at AS "mergedAt"`

export interface BlockRow {
  readonly id: bigint
  readonly height: bigint
  readonly state: BlockState
  readonly headerHash: Uint8Array
  readonly header: Uint8Array
  readonly previousHeaderHash: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly startTime: bigint
  readonly endTime: bigint
  readonly firstSequence: bigint
  readonly lastSequence: bigint
  readonly transactions: number
  readonly commitTransactionId: Uint8Array
  readonly commitTransaction: Uint8Array
  readonly mergeTransactionId: Uint8Array | null
  readonly mergeTransaction: Uint8Array | null
  readonly builtAt: Date
  readonly mergedAt: Date | null
}

export function toBlock(row: BlockRow): Block {
  const {
    id: _,
    commitTransactionId,
    commitTransaction,
    mergeTransactionId,
    mergeTransaction,
    mergedAt,
    ...block
  } = row
  return {
    ...block,
    commitTransaction: { id: commitTransactionId, cbor: commitTransaction },
    ...(mergeTransactionId !== null &&
      mergeTransaction !== null && { mergeTransaction: { id: mergeTransactionId, cbor: mergeTransaction } }),
    ...(mergedAt !== null && { mergedAt }),
  }
}
