import { createPauses } from '@ratatosk/block'
import { type Connection, nullable, type Row, schema, sql, statement, text, toHex } from '@ratatosk/database'
import { type OutputReference, outputReferenceKey } from '@ratatosk/ledger'
import type { NewRejection } from '../rejections/types.js'
import { mempoolRow } from './drop-transactions.js'
import { endOfBlocks } from './read-blocks.js'
import type { ExaminedTransaction, ForeignBlock, Layer1Transaction } from './types.js'

/** Transactions read at a time. */
const pageSize = 1_000

const sequencesAfter = statement(
  { sequences: nullable(text) },
  sql`SELECT string_agg(sequence::text, ',' ORDER BY sequence) AS sequences
  FROM (
    SELECT sequence FROM ${schema}.mempool_transactions
    WHERE sequence > GREATEST($1, ${endOfBlocks}) ORDER BY sequence LIMIT ${pageSize}
  ) AS page`,
)

type MempoolRow = Row<typeof mempoolRow>

const mempoolAt = statement(
  mempoolRow,
  sql`SELECT sequence, transaction_id AS id, cbor, accepted_at AS "acceptedAt"
  FROM ${schema}.mempool_transactions WHERE sequence = ANY ($1::bigint[])`,
)

export interface HeldTransaction {
  readonly sequence: bigint
  /** In the block, from 0. */
  readonly position: number
  /** Those of the block, where the mempool has others. */
  readonly bytes?: Layer1Transaction
}

interface Conflict {
  readonly message: string
  /** The transaction of the block that it rests on. */
  readonly spentBy: Uint8Array | undefined
}

/** A comparison of the mempool with a block, which can be continued when the mempool has grown. */
export interface Comparison {
  /** The sequences of the mempool's oldest transactions, as many as the block begins with, byte for byte. */
  readonly common: readonly bigint[]
  /** Later transactions of the mempool that the block holds. */
  readonly held: readonly HeldTransaction[]
  /** The sequences of those that do something else in the block, because its bytes are others. */
  readonly replaced: readonly bigint[]
  /** The sequences of those that name an output that is gone after the block. */
  readonly lost: readonly bigint[]
  /** A dead letter for each of these. */
  readonly rejections: readonly NewRejection[]
  /** Reads the transactions of the mempool that have not been read yet. */
  read(connection: Connection): Promise<void>
}

/** Begins to compare the mempool with a block that follows the newest one. */
export function compareMempool(
  block: ForeignBlock,
  examine: (cbor: Uint8Array) => ExaminedTransaction,
): Comparison {
  const { transactions } = block
  const header = toHex(block.headerHash)
  const places = new Map(Array.from(block.held ?? [], ([position, sequence]) => [sequence, position]))
  const common: bigint[] = []
  const held: HeldTransaction[] = []
  const replaced: bigint[] = []
  const lost: bigint[] = []
  const rejections: NewRejection[] = []
  /** The hex ids of those that are lost, with the transaction of the block that they rest on. */
  const spentByOf = new Map<string, Uint8Array | undefined>()
  const replacedIds = new Set<string>()
  let isCommon = true
  let last = -1n
  /** Made for the first transaction that the block may not hold. */
  let index: BlockIndex | undefined

  /** @param place in the block, if the bytes are known to be those of the block */
  function compare(sequence: bigint, place: number | undefined, row: MempoolRow | undefined): void {
    const next = transactions[common.length]
    const isNext = place === undefined ? row && next && isSame(row, next) : place === common.length
    if (isCommon && isNext) {
      common.push(sequence)
      return
    }
    isCommon = false
    if (place !== undefined) held.push({ sequence, position: place })
    else if (row !== undefined) compareRow(row)
  }

  function compareRow(row: MempoolRow): void {
    const { sequence } = row
    const id = toHex(row.id)
    const position = index?.positions.get(id)
    const theirs = position === undefined ? undefined : transactions[position]
    if (position === undefined || theirs === undefined) {
      const examined = examine(row.cbor)
      const gone = examined.named.find(isGone)
      if (gone === undefined) return
      const conflict = conflictOver(gone)
      spentByOf.set(id, conflict.spentBy)
      lost.push(sequence)
      rejections.push(rejectionOf(row, conflict, header))
    } else if (isSame(row, theirs)) held.push({ sequence, position })
    else if (effectsOf(examine(row.cbor)) === effectsOf(theirs))
      held.push({ sequence, position, bytes: theirs })
    else {
      replaced.push(sequence)
      replacedIds.add(id)
    }
  }

  /** Of an output that was there when its transaction was accepted. */
  function isGone(reference: OutputReference): boolean {
    const parent = toHex(reference.transactionId)
    const key = outputReferenceKey(reference)
    return spentByOf.has(parent) || replacedIds.has(parent) || index?.spenders.has(key) === true
  }

  /** @param reference an output that is gone */
  function conflictOver(reference: OutputReference): Conflict {
    const key = outputReferenceKey(reference)
    const parent = toHex(reference.transactionId)
    const spentBy = index?.spenders.get(key)
    if (spentBy !== undefined) {
      const message = `The transaction names the output ${key}, which transaction ${toHex(spentBy)} spends`
      return { message: `${message} in block ${header}`, spentBy }
    }
    const message = spentByOf.has(parent)
      ? `The transaction names an output of transaction ${parent}, which was dropped`
      : `The transaction names the output ${key}, which does not exist`
    return { message: `${message} because of block ${header}`, spentBy: spentByOf.get(parent) }
  }

  return {
    common,
    held,
    replaced,
    lost,
    rejections,
    async read(connection) {
      const pauseIfDue = createPauses()
      for (;;) {
        const [page] = await connection.query(sequencesAfter, [last])
        const sequences = page?.sequences?.split(',').map(BigInt) ?? []
        const others = sequences.filter((sequence) => !places.has(sequence))
        const rows = others.length === 0 ? [] : await connection.query(mempoolAt, [others])
        if (rows.length > 0) index ??= await indexOf(block)
        const bySequence = new Map(rows.map((row) => [row.sequence, row]))
        for (const sequence of sequences) {
          await pauseIfDue()
          compare(sequence, places.get(sequence), bySequence.get(sequence))
          last = sequence
        }
        if (sequences.length < pageSize) return
      }
    },
  }
}

interface BlockIndex {
  /** Positions of transactions, from 0, by the hex of the ids. */
  readonly positions: ReadonlyMap<string, number>
  /** The transactions that spend outputs, by `outputReferenceKey`. */
  readonly spenders: ReadonlyMap<string, Uint8Array>
}

async function indexOf({ transactions }: ForeignBlock): Promise<BlockIndex> {
  const pauseIfDue = createPauses()
  const positions = new Map<string, number>()
  const spenders = new Map<string, Uint8Array>()
  for (const [position, { id, spent }] of transactions.entries()) {
    await pauseIfDue()
    positions.set(toHex(id), position)
    for (const reference of spent) spenders.set(outputReferenceKey(reference), id)
  }
  return { positions, spenders }
}

const isSame = (one: { readonly cbor: Uint8Array }, other: { readonly cbor: Uint8Array }): boolean =>
  Buffer.compare(one.cbor, other.cbor) === 0

/** Differs for transactions with one id and different effects. */
const effectsOf = ({ spent, produced }: Pick<ExaminedTransaction, 'spent' | 'produced'>): string =>
  [spent, produced.map(({ reference }) => reference)]
    .map((references) => references.map(outputReferenceKey).join())
    .join(' ')

/** Its id has the sequence: a transaction may be accepted again and be dropped again. */
function rejectionOf(
  { sequence, id, cbor, acceptedAt }: MempoolRow,
  { message, spentBy }: Conflict,
  headerHash: string,
): NewRejection {
  const code = 'ConflictsWithBlock'
  const details = { headerHash, ...(spentBy && { spentBy: toHex(spentBy) }) }
  return {
    submissionId: `dropped-${toHex(id)}-${sequence}`,
    transactionId: id,
    cbor,
    attempts: 1,
    code,
    message,
    details: [{ predicate: code, message, details }],
    submittedAt: acceptedAt,
    ...(spentBy && { spentBy }),
  }
}
