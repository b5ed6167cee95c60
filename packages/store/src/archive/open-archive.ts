import type { Connection, Database } from '../drivers/connection.js'
import { StoreError } from '../errors.js'
import { advisoryLock } from '../ledger/advisory-lock.js'
import type { Archive, ArchivedBlock } from './types.js'

/** Bytes of a body that one statement reads. */
const pieceSize = 262_144

export function openArchive(database: Connection & Pick<Database, 'transaction'>, schema: string): Archive {
  const table = `${schema}.archived_blocks`
  const columns = 'header_hash AS "headerHash", height, header, merged'
  const byHash = `SELECT ${columns} FROM ${table} WHERE header_hash = $1`
  const byHeight = `SELECT ${columns} FROM ${table} WHERE height = $1`
  const range = `SELECT ${columns} FROM ${table} WHERE height BETWEEN $1 AND $2 ORDER BY height`
  const tip = `SELECT ${columns} FROM ${table} ORDER BY height DESC LIMIT 1`
  const piece = `
    SELECT substring(body FROM $2::integer FOR ${pieceSize}) AS piece, octet_length(body) AS size
    FROM ${table} WHERE header_hash = $1`
  const insert = `
    INSERT INTO ${table} (height, header_hash, header, body, merged) VALUES ($1, $2, $3, $4, $5::integer = 1)`
  const markMerged = `UPDATE ${table} SET merged = true WHERE height <= $1 AND NOT merged`
  const remove = `DELETE FROM ${table} WHERE height >= $1 RETURNING merged`

  const blocks = (statement: string, ...parameters: (Uint8Array | bigint)[]) =>
    database.query<ArchivedBlock>(statement, parameters)
  const one = async (statement: string, ...parameters: (Uint8Array | bigint)[]) =>
    (await blocks(statement, ...parameters))[0]

  /** Writers come one after another, so that what one has looked at holds while it writes. */
  const change = (work: (connection: Connection) => Promise<void>): Promise<void> =>
    database.transaction(async (transaction) => {
      await advisoryLock(transaction, 'archive', schema)
      await work(transaction)
    })

  return {
    byHash: (headerHash) => one(byHash, headerHash),
    byHeight: (height) => one(byHeight, height),
    range: (from, to) => blocks(range, from, to),
    tip: () => one(tip),

    async *body(headerHash) {
      for (let start = 0, size = 1; start < size; start += pieceSize) {
        const [row] = await database.query<{ piece: Uint8Array; size: number }>(piece, [
          headerHash,
          start + 1,
        ])
        if (row === undefined) throw new StoreError('STORE_CONFLICT', 'The archive does not have this block')
        size = row.size
        if (row.piece.length > 0) yield row.piece
      }
    },

    put: (added) =>
      change(async (connection) => {
        const [newest] = await connection.query<ArchivedBlock>(tip)
        let height = newest?.height ?? 0n
        for (const block of added) {
          height += 1n
          if (block.height !== height)
            throw new StoreError(
              'STORE_CONFLICT',
              `Block ${block.height} does not follow upon the archive's tip`,
            )
          const { headerHash, header, body, merged } = block
          await connection.query(insert, [height, headerHash, header, body, Number(merged)])
        }
      }),

    markMerged: (height) =>
      change(async (connection) => {
        await connection.query(markMerged, [height])
      }),

    removeFrom: (height) =>
      change(async (connection) => {
        const removed = await connection.query<{ merged: boolean }>(remove, [height])
        if (removed.some(({ merged }) => merged))
          throw new StoreError('STORE_CONFLICT', 'A merged block is not taken out of the archive')
      }),
  }
}
