import { type Connection, keysetPages, type Row, schema, sql, statement } from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { blocks, blockTransactions } from '../schema/tables.js'

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
export async function* blockTransactionPages(
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
