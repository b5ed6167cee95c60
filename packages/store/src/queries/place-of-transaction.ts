import {
  type Connection,
  int4,
  int8,
  nullable,
  type Row,
  type Sql,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { TransactionPlace } from '@ratatosk/ports'
import { blocks, blockTransactions } from '../schema/tables.js'

/** Where an accepted transaction is, by the database's clock. */
export interface AcceptedPlace extends TransactionPlace {
  /** Its position in the order of acceptance. */
  readonly sequence: bigint
}

const row = {
  id: blockTransactions.transactionId,
  sequence: int8,
  acceptedAt: blockTransactions.acceptedAt,
  position: nullable(int4),
  height: nullable(int8),
  state: blocks.state,
  headerHash: blocks.headerHash,
  endTime: nullable(int8),
  commitTransactionId: blocks.commitTransactionId,
  mergeTransactionId: blocks.mergeTransactionId,
}

// One statement, so that a transaction that moves into a block meanwhile is found in one of the two.
const places = (isAsked: Sql) =>
  statement(
    row,
    sql`SELECT entry.transaction_id AS id, entry.sequence, entry.accepted_at AS "acceptedAt", entry.position,
      block.height, block.state, block.header_hash AS "headerHash", block.end_time AS "endTime",
      block.commit_transaction_id AS "commitTransactionId", block.merge_transaction_id AS "mergeTransactionId"
    FROM (
      SELECT transaction_id, sequence, accepted_at, NULL::integer AS position, NULL::bigint AS block_id
      FROM ${schema}.mempool_transactions WHERE transaction_id ${isAsked}
      UNION ALL
      SELECT transaction_id, sequence, accepted_at, position, block_id FROM ${schema}.block_transactions
        WHERE transaction_id ${isAsked}
    ) AS entry
    LEFT JOIN ${schema}.blocks AS block ON block.id = entry.block_id`,
  )

const ofOne = places(sql`= $1`)
const ofMany = places(sql`IN (SELECT decode(id, 'hex') FROM unnest(string_to_array($1::text, ',')) AS id)`)

const hexOf = (id: Uint8Array): string => Buffer.from(id).toString('hex')

/** Where a transaction is; see `Store.placeOf`. */
export async function placeOfTransaction(
  connection: Connection,
  id: Uint8Array,
): Promise<AcceptedPlace | undefined> {
  const [found] = await connection.query(ofOne, [id])
  return found && toPlace(found)
}

/** Where each of some transactions is, in their order; see `Store.placesOf`. */
export async function placesOfTransactions(
  connection: Connection,
  ids: readonly Uint8Array[],
): Promise<readonly (AcceptedPlace | undefined)[]> {
  const names = ids.map(hexOf)
  const found = await connection.query(ofMany, [names.join(',')])
  const places = new Map(found.map((each) => [hexOf(each.id), toPlace(each)]))
  return names.map((name) => places.get(name))
}

function toPlace(found: Row<typeof row>): AcceptedPlace {
  const { sequence, acceptedAt, position, height, endTime, state, mergeTransactionId } = found
  const accepted = { sequence, acceptedAt }
  if (position === null || height === null || endTime === null || state === 'removed') return accepted
  const { headerHash, commitTransactionId } = found
  return {
    ...accepted,
    position: position - 1,
    block: {
      height,
      state,
      headerHash,
      endTime,
      ...(commitTransactionId !== null && { commitTransactionId }),
      ...(mergeTransactionId !== null && { mergeTransactionId }),
    },
  }
}
