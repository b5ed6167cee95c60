import {
  bool,
  bytea,
  bytesColumn,
  type Connection,
  type Database,
  int4,
  int8,
  nullable,
  parameterRows,
  type Row,
  type Sql,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { TransactionPlace } from '@ratatosk/ports'
import type { Block, OrderedTransaction, SequencePart } from '../blocks/types.js'
import {
  blocks,
  blockTransactions,
  deposits,
  droppedTransactions,
  mempoolTransactions,
} from '../schema/tables.js'

/** Where a block is in the order of blocks. */
export interface BlockPosition {
  /** 1 for the first block. */
  readonly height: bigint
  /** 28 bytes. */
  readonly headerHash: Uint8Array
  /** POSIX milliseconds. */
  readonly endTime: bigint
}

/** Where a transaction is in a block. */
export interface BlockPlace {
  readonly block: BlockPosition
  /** Counted from 0. */
  readonly position: number
}

/** Accept sequences of deposits, ascending, compared with the last one of a block. */
export interface DepositsBeside {
  /** Later ones that the blocks credit: they entered the ledger after the transactions of their block. */
  readonly credited: readonly bigint[]
  /** Earlier ones that the blocks do not credit: they wait, or waited for a later block. */
  readonly waiting: readonly bigint[]
}

/** Where a block ends in the order of blocks and in that of acceptance. */
export type BlockEnd = Pick<Block, 'height' | 'lastSequence'>

/** Accepted transactions in order, and their places in blocks. Removed blocks are not part of it. */
export interface ChainQueries {
  /** Total size of a block's transactions, in bytes of CBOR. */
  sizeOf(headerHash: Uint8Array): Promise<number>
  /** Accepted transactions with a sequence above `after`, in a block or not. */
  acceptedAfter(after: bigint, part: SequencePart): Promise<OrderedTransaction[]>
  /** Ids and sizes of the same transactions; their CBOR is not read. */
  sizesAfter(
    after: bigint,
    part: SequencePart,
  ): Promise<{ readonly id: Uint8Array; readonly bytes: number }[]>
  /** Number and total size of accepted transactions with a sequence above `after`; counts at most `limit`. */
  countAfter(after: bigint, limit: number): Promise<{ readonly transactions: number; readonly bytes: number }>
  /** The highest accept sequence of the mempool or of a deposit; undefined without either. */
  newestSequence(): Promise<bigint | undefined>
  /** The number of the newest drop of an accepted transaction or of everything; 0 without any. */
  newestDrop(): Promise<bigint>
  /** An accepted transaction by id (32 bytes), with its place if it is in a block. */
  transaction(id: Uint8Array): Promise<(OrderedTransaction & { readonly place?: BlockPlace }) | undefined>
  /** Those of these transactions that are accepted, by id (32 bytes). */
  transactions(ids: readonly Uint8Array[]): Promise<OrderedTransaction[]>
  /**
   * The places of those transactions that are in a block, by accept sequence. A deposit has that of the first
   * transaction.
   */
  places(sequences: readonly bigint[]): Promise<ReadonlyMap<bigint, BlockPlace>>
  /** The deposits whose accept sequences do not tell whether the blocks up to this one have them. */
  depositsBeside(block: BlockEnd): Promise<DepositsBeside>
  /**
   * The same for the blocks above one and up to another, and the sequences above its and up to the other's.
   * Without an end, all later blocks, and deposits in no block.
   */
  depositsBetween(above: BlockEnd, upTo: Partial<BlockEnd>): Promise<DepositsBeside>
}

const size = statement(
  { bytes: int8 },
  sql`SELECT COALESCE(sum(octet_length(t.cbor)), 0)::bigint AS bytes
  FROM ${schema}.blocks AS b JOIN ${schema}.block_transactions AS t ON t.block_id = b.id
  WHERE b.header_hash = $1`,
)

const ordered = { sequence: int8, id: bytea, cbor: bytea }

// PostgreSQL knows the length of a value without reading it.
const sized = { sequence: int8, id: bytea, bytes: int4 }
const acceptedPart = (direction: 'ASC' | 'DESC', columns: 'cbor' | 'octet_length(cbor) AS bytes') =>
  sql`SELECT * FROM (
    (SELECT sequence, transaction_id AS id, ${columns} FROM ${schema}.mempool_transactions
      WHERE sequence > $1 ORDER BY sequence ${direction} LIMIT $2::bigint + $3::bigint)
    UNION ALL
    (SELECT sequence, transaction_id AS id, ${columns} FROM ${schema}.block_transactions
      WHERE sequence > $1 ORDER BY sequence ${direction} LIMIT $2::bigint + $3::bigint)
  ) AS accepted ORDER BY sequence ${direction} OFFSET $2 LIMIT $3`
// Parameters: after, offset, limit.
const acceptedAscending = statement(ordered, acceptedPart('ASC', 'cbor'))
const acceptedDescending = statement(ordered, acceptedPart('DESC', 'cbor'))
const sizesAscending = statement(sized, acceptedPart('ASC', 'octet_length(cbor) AS bytes'))
const sizesDescending = statement(sized, acceptedPart('DESC', 'octet_length(cbor) AS bytes'))

const count = statement(
  { transactions: int4, bytes: int8 },
  sql`SELECT count(*)::integer AS transactions, COALESCE(sum(bytes), 0)::bigint AS bytes FROM (
    (SELECT octet_length(cbor) AS bytes FROM ${schema}.mempool_transactions WHERE sequence > $1 LIMIT $2)
    UNION ALL
    (SELECT octet_length(cbor) AS bytes FROM ${schema}.block_transactions WHERE sequence > $1 LIMIT $2)
  ) AS accepted`,
)

const newestSequence = statement(
  { sequence: nullable(int8) },
  sql`SELECT GREATEST(
    (SELECT max(sequence) FROM ${schema}.mempool_transactions),
    (SELECT max(sequence) FROM ${schema}.deposits)
  ) AS sequence`,
)

const newestDrop = statement(
  { number: int8 },
  sql`SELECT COALESCE(max(number), 0)::bigint AS number FROM ${schema}.dropped_transactions`,
)

const place = {
  position: nullable(int4),
  height: nullable(int8),
  headerHash: nullable(bytea),
  endTime: nullable(int8),
}
const transaction = statement(
  {
    sequence: mempoolTransactions.sequence,
    id: mempoolTransactions.transactionId,
    cbor: mempoolTransactions.cbor,
    ...place,
  },
  sql`SELECT sequence, transaction_id AS id, cbor, NULL::integer AS position, NULL::bigint AS height,
    NULL::bytea AS "headerHash", NULL::bigint AS "endTime"
  FROM ${schema}.mempool_transactions WHERE transaction_id = $1
  UNION ALL
  SELECT t.sequence, t.transaction_id AS id, t.cbor, t.position, b.height, b.header_hash AS "headerHash",
    b.end_time AS "endTime"
  FROM ${schema}.block_transactions AS t JOIN ${schema}.blocks AS b ON b.id = t.block_id
  WHERE t.transaction_id = $1`,
)

const transactions = statement(
  ordered,
  sql`SELECT t.sequence, transaction_id AS id, t.cbor
    FROM ${parameterRows({ transaction_id: 'bytea' })} AS given
    JOIN ${schema}.mempool_transactions AS t USING (transaction_id)
  UNION ALL
  SELECT t.sequence, transaction_id AS id, t.cbor
    FROM ${parameterRows({ transaction_id: 'bytea' })} AS given
    JOIN ${schema}.block_transactions AS t USING (transaction_id)`,
)

const places = statement(
  {
    sequence: blockTransactions.sequence,
    position: blockTransactions.position,
    height: blocks.height,
    headerHash: blocks.headerHash,
    endTime: blocks.endTime,
  },
  sql`SELECT t.sequence, t.position, b.height, b.header_hash AS "headerHash", b.end_time AS "endTime"
  FROM unnest($1::text[]) AS wanted (sequence)
  JOIN (
    SELECT sequence, position, block_id FROM ${schema}.block_transactions
    UNION ALL SELECT sequence, 1, block_id FROM ${schema}.deposits
  ) AS t ON t.sequence = wanted.sequence::bigint
  JOIN ${schema}.blocks AS b ON b.id = t.block_id`,
)

/** Above every height and sequence. */
const end = 2n ** 63n - 1n

/** Deposits that may be on another side of a block by their sequences than by their blocks. */
const misplaced = (...blocksAt: readonly (readonly [height: string, sequence: string])[]): Sql =>
  blocksAt.reduce(
    (others, [height, sequence]) => sql`${others} UNION
      SELECT sequence, block_id FROM ${schema}.deposits
      WHERE sequence > ${sequence} AND sequence <= (
        SELECT newest_deposit FROM ${schema}.blocks WHERE state <> 'removed' AND height = ${height}
      )`,
    sql`SELECT sequence, block_id FROM ${schema}.deposits WHERE released`,
  )

const depositRow = { sequence: deposits.sequence, credited: bool }
/** A deposit that waits is behind all blocks. */
const itsHeight = sql`COALESCE(b.height, ${String(end)})`

const depositsBeside = statement(
  depositRow,
  sql`SELECT d.sequence, ${itsHeight} <= $2 AS credited
  FROM (${misplaced(['$2', '$1'])}) AS d
    LEFT JOIN ${schema}.blocks AS b ON b.id = d.block_id
  WHERE (d.sequence <= $1) <> (${itsHeight} <= $2)
  ORDER BY d.sequence`,
)

const creditedBetween = sql`${itsHeight} > $1 AND ${itsHeight} <= $3`
const depositsBetween = statement(
  depositRow,
  sql`SELECT d.sequence, ${creditedBetween} AS credited
  FROM (${misplaced(['$1', '$2'], ['$3', '$4'])}) AS d
    LEFT JOIN ${schema}.blocks AS b ON b.id = d.block_id
  WHERE (d.sequence > $2 AND d.sequence <= $4) <> (${creditedBetween})
  ORDER BY d.sequence`,
)

export function openChain(database: Database): ChainQueries {
  return {
    async sizeOf(headerHash) {
      const [row] = await database.query(size, [headerHash])
      return Number(row?.bytes ?? 0)
    },
    acceptedAfter: (after, { offset, limit, newestFirst }) =>
      database.query(newestFirst ? acceptedDescending : acceptedAscending, [after, offset, limit]),
    sizesAfter: (after, { offset, limit, newestFirst }) =>
      database.query(newestFirst ? sizesDescending : sizesAscending, [after, offset, limit]),
    async countAfter(after, limit) {
      const [row] = await database.query(count, [after, limit])
      return { transactions: row?.transactions ?? 0, bytes: Number(row?.bytes ?? 0) }
    },
    async newestDrop() {
      const [row] = await database.query(newestDrop)
      return row?.number ?? 0n
    },
    async newestSequence() {
      const [row] = await database.query(newestSequence)
      return row?.sequence ?? undefined
    },
    async transaction(id) {
      const [row] = await database.query(transaction, [id])
      if (row === undefined) return undefined
      const { sequence, cbor, position, height, headerHash, endTime } = row
      const found = { sequence, id: row.id, cbor }
      if (position === null || height === null || headerHash === null || endTime === null) return found
      return { ...found, place: { block: { height, headerHash, endTime }, position: position - 1 } }
    },
    transactions: (ids) => database.query(transactions, [bytesColumn(ids)]),
    depositsBeside: async ({ lastSequence, height }) =>
      besideOf(await database.query(depositsBeside, [lastSequence, height])),
    depositsBetween: async (above, { height = end, lastSequence = end }) =>
      besideOf(
        await database.query(depositsBetween, [above.height, above.lastSequence, height, lastSequence]),
      ),
    async places(sequences) {
      if (sequences.length === 0) return new Map()
      const rows = await database.query(places, [sequences.map(String)])
      return new Map(
        rows.map(({ sequence, position, height, headerHash, endTime }) => [
          sequence,
          { block: { height, headerHash, endTime }, position: position - 1 },
        ]),
      )
    },
  }
}

function besideOf(
  found: readonly { readonly sequence: bigint; readonly credited: boolean }[],
): DepositsBeside {
  const of = (wanted: boolean) =>
    found.flatMap(({ sequence, credited }) => (credited === wanted ? [sequence] : []))
  return { credited: of(true), waiting: of(false) }
}

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
const placesWhere = (isAsked: Sql) =>
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

const ofOne = placesWhere(sql`= $1`)
const ofMany = placesWhere(
  sql`IN (SELECT decode(id, 'hex') FROM unnest(string_to_array($1::text, ',')) AS id)`,
)

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

/** An accepted transaction that the ledger has undone, or everything. */
interface DroppedTransaction {
  /** Orders the drops. Gaps have no meaning. */
  readonly number: bigint
  /** The transaction; undefined: a reset undid all. Its id may be accepted again, with another sequence. */
  readonly transaction: { readonly sequence: bigint; readonly id: Uint8Array } | undefined
}

/** An accepted transaction, or a deposit that entered the ledger. */
export interface AcceptedChange extends OrderedTransaction {
  /** It is a deposit: output 0 of the id, whose CBOR is in `cbor`. */
  readonly deposit?: true
}

/** The reads of a follower of acceptance. */
export interface LedgerChanges {
  /**
   * Accepted transactions, and deposits, with a sequence above `after`, oldest first, at most `limit`.
   * Dropped ones are not among them. A deposit enters with the first block that credits it, and stays when
   * that is removed.
   */
  accepted(after: bigint, limit: number): Promise<AcceptedChange[]>
  /** Drops with a number above `after`, oldest first, at most `limit`. */
  dropped(after: bigint, limit: number): Promise<DroppedTransaction[]>
  /** How many outputs the ledger was started with; undefined before the genesis was applied. */
  genesisOutputs(): Promise<number | undefined>
}

const part = 'WHERE sequence > $1 ORDER BY sequence LIMIT $2'
const accepted = statement(
  { sequence: int8, id: bytea, cbor: bytea, deposit: bool },
  sql`SELECT * FROM (
    (SELECT sequence, transaction_id AS id, cbor, false AS deposit
      FROM ${schema}.mempool_transactions ${part})
    UNION ALL
    (SELECT sequence, transaction_id AS id, cbor, false AS deposit FROM ${schema}.block_transactions ${part})
    UNION ALL
    (SELECT sequence, transaction_id AS id, output AS cbor, true AS deposit FROM ${schema}.deposits ${part})
  ) AS accepted ORDER BY sequence LIMIT $2`,
)

const dropped = statement(
  { number: droppedTransactions.number, sequence: nullable(int8), id: nullable(bytea) },
  sql`SELECT number, sequence, transaction_id AS id FROM ${schema}.dropped_transactions
  WHERE number > $1 ORDER BY number LIMIT $2`,
)

const genesisOutputs = statement({ outputs: int4 }, sql`SELECT outputs FROM ${schema}.genesis`)

export function openChanges(database: Database): LedgerChanges {
  return {
    async accepted(after, limit) {
      const rows = await database.query(accepted, [after, limit])
      return rows.map(({ deposit, ...row }) => (deposit ? { ...row, deposit } : row))
    },
    async dropped(after, limit) {
      const rows = await database.query(dropped, [after, limit])
      return rows.map(({ number, sequence, id }) => ({
        number,
        transaction: sequence === null || id === null ? undefined : { sequence, id },
      }))
    },
    async genesisOutputs() {
      const [row] = await database.query(genesisOutputs)
      return row?.outputs
    },
  }
}
