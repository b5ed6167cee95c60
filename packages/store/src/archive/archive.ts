import type { WritableArchive } from '@ratatosk/block'
import {
  advisoryLock,
  bytea,
  type Connection,
  type Database,
  int4,
  type Statement,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import { archivedBlocks } from '../schema/tables.js'

/** Bytes of a body that one statement reads. */
const pieceSize = 262_144

const { headerHash, height, header, merged } = archivedBlocks
const block = { headerHash, height, header, merged }
const select = (rest: string) =>
  statement(block, sql`SELECT ${selectList(block)} FROM ${schema}.archived_blocks ${rest}`)

const byHash = select('WHERE header_hash = $1')
const byHeight = select('WHERE height = $1')
const range = select('WHERE height BETWEEN $1 AND $2 ORDER BY height')
const tip = select('ORDER BY height DESC LIMIT 1')

const piece = statement(
  { piece: bytea, size: int4 },
  sql`SELECT substring(body FROM $2::integer FOR ${pieceSize}) AS piece, octet_length(body) AS size
  FROM ${schema}.archived_blocks WHERE header_hash = $1`,
)
const insert = sql`
  INSERT INTO ${schema}.archived_blocks (height, header_hash, header, body, merged)
  VALUES ($1, $2, $3, $4, $5::integer = 1)`
const markMerged = sql`UPDATE ${schema}.archived_blocks SET merged = true WHERE height <= $1 AND NOT merged`
const remove = statement(
  { merged },
  sql`DELETE FROM ${schema}.archived_blocks WHERE height >= $1 RETURNING merged`,
)

/** The archive. Refused changes, and bodies missing or removed while read, reject with `STORE_CONFLICT`. */
export function openArchive(database: Database): WritableArchive {
  const one = async (select: Statement<typeof block>, ...parameters: (Uint8Array | bigint)[]) =>
    (await database.query(select, parameters))[0]

  /** One writer at a time, so that what it has read stays true while it writes. */
  const change = (work: (connection: Connection) => Promise<void>): Promise<void> =>
    database.transaction(async (transaction) => {
      await advisoryLock(transaction, 'archive')
      await work(transaction)
    })

  return {
    byHash: (headerHash) => one(byHash, headerHash),
    byHeight: (height) => one(byHeight, height),
    range: (from, to) => database.query(range, [from, to]),
    tip: () => one(tip),

    async *body(headerHash) {
      for (let start = 0, size = 1; start < size; start += pieceSize) {
        const [row] = await database.query(piece, [headerHash, start + 1])
        if (row === undefined) throw new StoreError('STORE_CONFLICT', 'The block is not in the archive')
        size = row.size
        if (row.piece.length > 0) yield row.piece
      }
    },

    put: (added) =>
      change(async (connection) => {
        const [newest] = await connection.query(tip)
        let height = newest?.height ?? 0n
        for (const block of added) {
          height += 1n
          if (block.height !== height) {
            throw new StoreError('STORE_CONFLICT', `Block ${block.height} does not follow the archive's tip`)
          }
          const { headerHash, header, body, merged } = block
          await connection.execute(insert, [height, headerHash, header, body, Number(merged)])
        }
      }),

    markMerged: (height) =>
      change(async (connection) => {
        await connection.execute(markMerged, [height])
      }),

    removeFrom: (height) =>
      change(async (connection) => {
        const removed = await connection.query(remove, [height])
        if (removed.some(({ merged }) => merged)) {
          throw new StoreError('STORE_CONFLICT', 'A merged block cannot be removed from the archive')
        }
      }),
  }
}
