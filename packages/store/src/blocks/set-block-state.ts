import { bytesColumn, type Connection, parameterRows, schema, sql, toHex } from '@ratatosk/database'
import type { BlockState } from '@ratatosk/ports'
import { StoreError } from '../errors.js'
import type { Layer1Transaction } from './types.js'

type KeptState = Exclude<BlockState, 'removed'>

/** The column with the time at which a block first entered a state. `built_at` is always set. */
const timeOf = [
  ['submitted', 'submitted_at'],
  ['committed', 'committed_at'],
  ['mature', 'matured_at'],
  ['merged', 'merged_at'],
] as const

/** Assignments that set a state and its time, and clear the times of later states. */
export function enter(state: KeptState): string {
  const own = timeOf.findIndex(([of]) => of === state)
  const times = timeOf.flatMap(([, column], position) => {
    if (position < own) return []
    return [position === own ? `${column} = COALESCE(${column}, clock_timestamp())` : `${column} = NULL`]
  })
  return [`state = '${state}'`, ...times, 'removed_at = NULL'].join(', ')
}

const setState = (state: KeptState) => sql`
  UPDATE ${schema}.blocks AS block SET ${enter(state)}
  FROM ${parameterRows({ header_hash: 'bytea' })} AS given
  WHERE block.header_hash = given.header_hash AND block.state <> 'removed'`

const setStates = {
  built: setState('built'),
  submitted: setState('submitted'),
  committed: setState('committed'),
  mature: setState('mature'),
  merged: setState('merged'),
}

const setMerge = sql`
  UPDATE ${schema}.blocks SET merge_transaction_id = $2, merge_transaction = $3
  WHERE header_hash = $1 AND state <> 'removed'`

/** Sets the state of all given blocks; see `Blocks.setState`. */
export async function setBlockState(
  transaction: Connection,
  headerHashes: readonly Uint8Array[],
  state: KeptState,
): Promise<void> {
  if (headerHashes.length === 0) return
  const changed = await transaction.execute(setStates[state], [bytesColumn(headerHashes)])
  if (changed !== new Set(headerHashes.map(toHex)).size) throw unknownBlock()
}

/** Stores the transaction that merges a block; see `Blocks.setMergeTransaction`. */
export async function setMergeTransaction(
  transaction: Connection,
  headerHash: Uint8Array,
  { id, cbor }: Layer1Transaction,
): Promise<void> {
  const changed = await transaction.execute(setMerge, [headerHash, id, cbor])
  if (changed === 0) throw unknownBlock()
}

function unknownBlock(): StoreError {
  return new StoreError('STORE_CONFLICT', 'A block is unknown or removed')
}
