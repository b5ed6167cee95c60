import {
  bool,
  bounded,
  bytea,
  type Connection,
  type Database,
  int8,
  keysetPages,
  maxPageRows,
  queryInIndexOrder,
  type Row,
  schema,
  selectList,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { LRUCache } from 'lru-cache'
import { placeOfDeposit } from '../blocks/deposits.js'
import { StoreError } from '../errors.js'
import type { StoredOutput } from '../ledger/ledger.js'
import {
  addressHistory,
  blocks,
  blockTransactions,
  mempoolLedger,
  mempoolTransactions,
} from '../schema/tables.js'
import type { Page, Store } from '../store.js'
import { placeOfTransaction, placesOfTransactions } from './chain.js'

type Queries = Pick<
  Store,
  'transaction' | 'placeOf' | 'placesOf' | 'deposit' | 'utxoPages' | 'historyPages' | 'blockTransactionPages'
>

const transaction = statement(
  { cbor: mempoolTransactions.cbor },
  sql`SELECT cbor FROM ${schema}.mempool_transactions WHERE transaction_id = $1
  UNION ALL
  SELECT cbor FROM ${schema}.block_transactions WHERE transaction_id = $1
  LIMIT 1`,
)

export function openQueries(database: Database): Queries {
  return {
    async transaction(id) {
      const [row] = await database.query(transaction, [id])
      return row?.cbor
    },

    placeOf: (id) => placeOfTransaction(database, id),
    placesOf: (ids) => placesOfTransactions(database, ids),

    deposit: (id) => placeOfDeposit(database, id),

    utxoPages: (address) => utxoPages(database, address),

    historyPages: openHistory(database),

    blockTransactionPages: (headerHash) => blockTransactionPages(database, headerHash),
  }
}

/** Ids are 32 bytes. */
const pageSize = 2_000

const row = {
  position: blockTransactions.position,
  id: blockTransactions.transactionId,
  count: blocks.transactions,
}
const idsOfBlock = statement(
  row,
  sql`SELECT entry.position, entry.transaction_id AS id, block.transactions AS count
  FROM ${schema}.blocks AS block
  JOIN ${schema}.block_transactions AS entry ON entry.block_id = block.id
  WHERE block.header_hash = $1 AND block.state IN ('submitted', 'committed', 'mature', 'merged')
    AND entry.position > $2
  ORDER BY entry.position LIMIT ${pageSize}`,
)

/** Transaction ids of a block, in order; see `Store.blockTransactionPages`. */
async function* blockTransactionPages(
  connection: Connection,
  headerHash: Uint8Array,
): AsyncGenerator<readonly Uint8Array[], void> {
  const read = async (after: Row<typeof row> | undefined) => {
    const page = await connection.query(idsOfBlock, [headerHash, after?.position ?? 0])
    if (page.length === 0 && after !== undefined) {
      throw new StoreError('STORE_CONFLICT', 'The block was removed while it was read')
    }
    return page
  }
  for await (const page of keysetPages(read, (page) => page.at(-1)?.position === page.at(-1)?.count)) {
    yield page.map(({ id }) => id)
  }
}

const { sequence, transactionId, outputIndex, output } = mempoolLedger
const unspentRow = { sequence, transactionId, outputIndex, output }
const page = { ...unspentRow, complete: bool }
/** Few, because an answer that waits for its client keeps a page of rows in memory. */
const pageRows = 128

const list = 'sequence, transaction_id, output_index, output'
// The deposits of a block share a sequence and an index.
const order = 'sequence, output_index, transaction_id'

// Everything that has touched the address so far. Genesis outputs and deposits are not in the history.
const latest = sql`GREATEST(
  (SELECT max(sequence) FROM ${schema}.address_history WHERE address = $1),
  (SELECT max(sequence) FROM ${schema}.mempool_ledger WHERE address = $1),
  0
)`

const firstPage = statement(
  { ...page, snapshot: int8 },
  sql`SELECT ${selectList(unspentRow)}, complete, ${latest} AS snapshot
  FROM (${bounded(
    sql`SELECT ${list} FROM ${schema}.mempool_ledger WHERE address = $1`,
    order,
    'output',
    String(pageRows),
  )}) AS page
  ORDER BY ${order}`,
)

// Outputs of the snapshot that were spent since are among the spent outputs, under the transactions that have
// touched the address since.
const nextPage = statement(
  page,
  sql`SELECT ${selectList(unspentRow)}, complete
  FROM (${bounded(
    sql`(
      SELECT ${list} FROM ${schema}.mempool_ledger
      WHERE address = $1 AND sequence <= $2 AND (${order}) > ($3, $4, $5)
      ORDER BY ${order} LIMIT ${pageRows}
    )
    UNION ALL
    (
      SELECT s.sequence, s.transaction_id, s.output_index, s.output
      FROM ${schema}.address_history AS since
      JOIN ${schema}.spent_outputs AS s ON s.spent_by = since.sequence
      WHERE since.address = $1 AND since.sequence > $2 AND s.address = $1 AND s.sequence <= $2
        AND (s.sequence, s.output_index, s.transaction_id) > ($3, $4, $5)
      ORDER BY s.sequence, s.output_index, s.transaction_id LIMIT ${pageRows}
    )`,
    order,
    'output',
    String(pageRows),
  )}) AS page
  ORDER BY ${order}`,
)

/** The unspent outputs at an address at the time of the first page; see `Store.utxoPages`. */
async function* utxoPages(
  database: Database,
  address: Uint8Array,
): AsyncGenerator<readonly StoredOutput[], void> {
  let snapshot: bigint | undefined
  const read = async (after: Row<typeof page> | undefined) => {
    if (after !== undefined && snapshot !== undefined) {
      const key = [address, snapshot, after.sequence, after.outputIndex, after.transactionId]
      return queryInIndexOrder(database, nextPage, key)
    }
    // A planner with statistics chooses the index itself where an address has many outputs, in one round
    // trip.
    const rows = database.autovacuum
      ? await database.query(firstPage, [address])
      : await queryInIndexOrder(database, firstPage, [address])
    snapshot = rows.at(0)?.snapshot
    return rows
  }
  for await (const rows of keysetPages(read, (rows) => rows.at(-1)?.complete === true)) {
    yield rows.map(({ transactionId, outputIndex, output }) => ({
      reference: { transactionId, index: outputIndex },
      output,
    }))
  }
}

/** Entries between two marks: the most that a page skips. */
const stride = 1_000

/** Marks that one statement finds at most. */
const marksPerStatement = 10

const historyPage = statement(
  { sequence: int8, cbor: bytea, complete: bool },
  sql`SELECT sequence, cbor, complete FROM (${bounded(
    sql`SELECT sequence, COALESCE(mempool.cbor, block.cbor) AS cbor
    FROM (
      SELECT sequence FROM ${schema}.address_history
      WHERE address = $1 AND sequence > $2 ORDER BY sequence OFFSET $3 LIMIT $4
    ) AS entry
    LEFT JOIN ${schema}.mempool_transactions AS mempool USING (sequence)
    LEFT JOIN ${schema}.block_transactions AS block USING (sequence)`,
    'sequence',
    'cbor',
    '$4',
  )}) AS page ORDER BY sequence`,
)

const entry = { sequence: addressHistory.sequence }
const newestDrop = statement(
  { number: int8 },
  sql`SELECT COALESCE(max(number), 0) AS number FROM ${schema}.dropped_transactions`,
)
const marksAfter = statement(
  entry,
  sql`SELECT sequence FROM (
    SELECT sequence, row_number() OVER (ORDER BY sequence) AS place
    FROM (
      SELECT sequence FROM ${schema}.address_history
      WHERE address = $1 AND sequence > $2 ORDER BY sequence LIMIT ${marksPerStatement * stride}
    ) AS entry
  ) AS counted
  WHERE place % ${stride} = 0 ORDER BY sequence`,
)

/** Where a deep page starts: after this sequence, and then so many entries further. */
interface Start {
  readonly after: bigint
  readonly skip: number
}

/** The sequence of every {@link stride}th entry of an address, as far as they are known. */
interface Marks {
  /** The newest undoing of accepted transactions at the time: it may have shortened the history. */
  readonly drop: bigint
  readonly sequences: bigint[]
}

/** CBOR of the transactions of an address; see `Store.historyPages`. */
type HistoryPages = (address: Uint8Array, page: Page) => AsyncGenerator<readonly Uint8Array[], void>

/** Remembers where deep pages start, so that the cost of a page does not grow with its offset for long. */
function openHistory(database: Database): HistoryPages {
  const known = new LRUCache<string, Marks>({ max: 1_000 })

  /** A history grows at its end, so a mark stays valid until transactions are undone. */
  async function marksOf(address: Uint8Array): Promise<Marks> {
    const [newest] = await database.query(newestDrop)
    const drop = newest?.number ?? 0n
    const key = toHex(address)
    const marks = known.get(key)
    if (marks?.drop === drop) return marks
    const none = { drop, sequences: [] }
    known.set(key, none)
    return none
  }

  /** `undefined`: the history is shorter. */
  async function startOf(address: Uint8Array, offset: number): Promise<Start | undefined> {
    if (offset < stride) return { after: -1n, skip: offset }
    const { sequences } = await marksOf(address)
    const wanted = Math.floor(offset / stride)
    while (sequences.length < wanted) {
      const known = sequences.length
      const found = await queryInIndexOrder(database, marksAfter, [address, sequences[known - 1] ?? -1n])
      // Another reader may have found the same meanwhile.
      found.forEach(({ sequence }, n) => {
        sequences[known + n] = sequence
      })
      if (found.length < marksPerStatement && sequences.length < wanted) return undefined
    }
    return { after: sequences[wanted - 1] ?? -1n, skip: offset % stride }
  }

  return async function* historyPages(address, { limit, offset }) {
    if (!isCount(limit) || !isCount(offset)) {
      throw new StoreError('STORE_INVALID_ARGUMENT', 'Limit and offset must be whole numbers from 0')
    }
    const start = limit === 0 ? undefined : await startOf(address, offset)
    if (start === undefined) return
    let left = limit
    const read = async (last: { readonly sequence: bigint } | undefined) => {
      const { after, skip } = last === undefined ? start : { after: last.sequence, skip: 0 }
      const key = [address, after, skip, Math.min(left, maxPageRows)]
      const page = await queryInIndexOrder(database, historyPage, key)
      left -= page.length
      return page
    }
    for await (const page of keysetPages(read, (page) => left === 0 || page.at(-1)?.complete === true)) {
      yield page.map(({ cbor }) => cbor)
    }
  }
}

function isCount(number: number): boolean {
  return Number.isSafeInteger(number) && number >= 0
}
