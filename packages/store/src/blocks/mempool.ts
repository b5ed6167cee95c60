import { createPauses } from '@ratatosk/block'
import {
  bool,
  type Connection,
  int4,
  int8,
  nullable,
  type Row,
  type SqlTransaction,
  schema,
  sql,
  statement,
  text,
  toHex,
} from '@ratatosk/database'
import { outputReferenceKey } from '@ratatosk/ledger'
import { StoreError } from '../errors.js'
import type { NewRejection } from '../rejections/types.js'
import { addRejections } from '../rejections/write-rejections.js'
import { mempoolTransactions } from '../schema/tables.js'
import { endOfBlocks } from './read-blocks.js'
import type { DropReason, DropRule, ExaminedTransaction, ForeignBlock, Layer1Transaction } from './types.js'

/** Transactions read at a time. */
const pageSize = 1_000

const mempoolRow = {
  sequence: mempoolTransactions.sequence,
  id: mempoolTransactions.transactionId,
  cbor: mempoolTransactions.cbor,
  acceptedAt: mempoolTransactions.acceptedAt,
}

const mempoolAfter = statement(
  mempoolRow,
  sql`SELECT sequence, transaction_id AS id, cbor, accepted_at AS "acceptedAt"
  FROM ${schema}.mempool_transactions WHERE sequence > $1 ORDER BY sequence LIMIT ${pageSize}`,
)

const oldestSequence = statement(
  { sequence: int8 },
  sql`SELECT COALESCE(min(sequence), 0) AS sequence FROM ${schema}.mempool_transactions`,
)

// `spent_by` is what the primary key begins with.
const isStillSpent = statement(
  { spent: bool },
  sql`SELECT EXISTS (
    SELECT FROM ${schema}.spent_outputs AS spent
    JOIN ${schema}.mempool_transactions AS dropped USING (transaction_id)
    WHERE spent.spent_by > $2 AND dropped.sequence = ANY ($1::bigint[])
      AND spent.spent_by <> ALL ($1::bigint[])
  ) AS spent`,
)

// The reverse of what `appendBatch` wrote. Every part sees the tables as they were before the statement: an
// output that one dropped transaction made and another spent is in neither table afterwards.
const undo = statement(
  { dropped: int4 },
  sql`WITH dropped AS (
    DELETE FROM ${schema}.mempool_transactions WHERE sequence = ANY ($1::bigint[])
    RETURNING sequence, transaction_id
  ), noted AS (
    INSERT INTO ${schema}.dropped_transactions (sequence, transaction_id)
    SELECT sequence, transaction_id FROM dropped ORDER BY sequence
  ), made AS (
    DELETE FROM ${schema}.mempool_ledger AS ledger USING dropped
    WHERE ledger.transaction_id = dropped.transaction_id
    RETURNING ledger.address, ledger.sequence
  ), freed AS (
    DELETE FROM ${schema}.spent_outputs AS spent USING dropped
    WHERE spent.spent_by = dropped.sequence
    RETURNING spent.*
  ), restored AS (
    INSERT INTO ${schema}.mempool_ledger
      (transaction_id, output_index, output, address, sequence)
    SELECT transaction_id, output_index, output, address, sequence
    FROM freed WHERE sequence <> ALL ($1::bigint[])
  ), forgotten AS (
    DELETE FROM ${schema}.address_history AS history
    USING (
      SELECT address, sequence FROM made
      UNION SELECT address, sequence FROM freed
      UNION SELECT address, spent_by FROM freed
    ) AS touched (address, sequence)
    WHERE history.address = touched.address AND history.sequence = touched.sequence
      AND touched.sequence = ANY ($1::bigint[])
  )
  SELECT count(*)::integer AS dropped FROM dropped`,
)

/** Takes transactions and their effects out of the mempool. `sequences` include all descendants. */
export async function takeOut(transaction: SqlTransaction, sequences: readonly bigint[]): Promise<void> {
  const sorted = [...sequences].sort((one, other) => (one < other ? -1 : 1))
  // The newest first: what an older transaction made is restored before that transaction is taken out.
  for (let end = sorted.length; end > 0; end -= pageSize) {
    const part = sorted.slice(Math.max(0, end - pageSize), end)
    const [result] = await transaction.query(undo, [part])
    if (result?.dropped !== part.length)
      throw transaction.doom(new StoreError('STORE_CONFLICT', 'A transaction to drop is not in the mempool'))
  }
}

/** A search of the mempool for what must be dropped, which can be continued when the mempool has grown. */
export interface DropSearch {
  readonly reasons: Map<string, DropReason>
  readonly found: { readonly transaction: Row<typeof mempoolRow>; readonly reason: DropReason }[]
  last: bigint
  /** Whether `follow` finds the first ones too. */
  readonly isOpen: boolean
}

/** @param first undefined: `follow` finds them */
export function startDropSearch(first?: ReadonlyMap<string, DropReason>): DropSearch {
  return { reasons: new Map(first), found: [], last: -1n, isOpen: first === undefined }
}

/** Reads the transactions of the mempool that the search has not read yet. */
export async function continueDropSearch(
  connection: Connection,
  search: DropSearch,
  follow: DropRule,
): Promise<void> {
  const { reasons, found, isOpen } = search
  for (;;) {
    const page = await connection.query(mempoolAfter, [search.last])
    for (const transaction of page) {
      const id = toHex(transaction.id)
      const reason =
        reasons.get(id) ?? (isOpen || found.length > 0 ? follow(transaction, reasons) : undefined)
      search.last = transaction.sequence
      if (reason === undefined) continue
      reasons.set(id, reason)
      found.push({ transaction, reason })
    }
    if (page.length < pageSize) return
  }
}

/** Drops what a complete search has found, under the ledger's lock; see `Blocks.drop`. */
export async function dropFound(
  transaction: SqlTransaction,
  { found, reasons }: DropSearch,
): Promise<number> {
  if (found.length !== reasons.size)
    throw new StoreError('STORE_CONFLICT', 'A transaction to drop is not in the mempool')
  if (found.length === 0) return 0
  const sequences = found.map(({ transaction: { sequence } }) => String(sequence))
  const [oldest] = await transaction.query(oldestSequence)
  const [still] = await transaction.query(isStillSpent, [sequences, oldest?.sequence ?? 0n])
  if (still?.spent)
    throw new StoreError(
      'STORE_INVALID_ARGUMENT',
      'A transaction that stays in the mempool spends an output of one that is dropped',
    )
  await takeOut(
    transaction,
    found.map(({ transaction: { sequence } }) => sequence),
  )
  await addRejections(
    transaction,
    found.map(({ transaction: { id, cbor, acceptedAt }, reason }) => ({
      submissionId: `dropped-${toHex(id)}`,
      transactionId: id,
      cbor,
      attempts: 1,
      ...reason,
      submittedAt: acceptedAt,
    })),
  )
  return found.length
}

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
  const lists = { common: [], held: [], replaced: [], lost: [], rejections: [] }
  const found = { isCommon: true, spentByOf: new Map(), replacedIds: new Set<string>() }
  const places = new Map(Array.from(block.held ?? [], ([position, sequence]) => [sequence, position]))
  const state: State = { ...lists, ...found, block, examine, places, last: -1n, index: undefined }
  return { ...lists, read: (connection) => read(state, connection) }
}

type Lists = Omit<Comparison, 'read'>

interface State extends Readonly<{ [Name in keyof Lists]: Lists[Name][number][] }> {
  readonly block: ForeignBlock
  readonly examine: (cbor: Uint8Array) => ExaminedTransaction
  /** The positions of `block.held`, by sequence. */
  readonly places: ReadonlyMap<bigint, number>
  isCommon: boolean
  /** The hex ids of those that are lost, with the transaction of the block that they rest on. */
  readonly spentByOf: Map<string, Uint8Array | undefined>
  readonly replacedIds: Set<string>
  last: bigint
  /** Made for the first transaction that the block may not hold. */
  index: BlockIndex | undefined
}

async function read(state: State, connection: Connection): Promise<void> {
  const { block, places } = state
  const pauseIfDue = createPauses()
  for (;;) {
    const [page] = await connection.query(sequencesAfter, [state.last])
    const sequences = page?.sequences?.split(',').map(BigInt) ?? []
    const others = sequences.filter((sequence) => !places.has(sequence))
    const rows = others.length === 0 ? [] : await connection.query(mempoolAt, [others])
    if (rows.length > 0) state.index ??= await indexOf(block)
    const bySequence = new Map(rows.map((row) => [row.sequence, row]))
    for (const sequence of sequences) {
      await pauseIfDue()
      compare(state, sequence, places.get(sequence), bySequence.get(sequence))
      state.last = sequence
    }
    if (sequences.length < pageSize) return
  }
}

/** @param place in the block, if the bytes are known to be those of the block */
function compare(state: State, sequence: bigint, place: number | undefined, row: MempoolRow | undefined) {
  const { common, held } = state
  const next = state.block.transactions[common.length]
  const isNext = place === undefined ? row && next && isSame(row, next) : place === common.length
  if (state.isCommon && isNext) {
    common.push(sequence)
    return
  }
  state.isCommon = false
  if (place !== undefined) held.push({ sequence, position: place })
  else if (row !== undefined) compareRow(state, row)
}

function compareRow(state: State, row: MempoolRow): void {
  const { block, examine, held } = state
  const { sequence } = row
  const id = toHex(row.id)
  const position = state.index?.positions.get(id)
  const theirs = position === undefined ? undefined : block.transactions[position]
  if (position === undefined || theirs === undefined) {
    const conflict = conflictOf(state, examine(row.cbor))
    if (conflict === undefined) return
    state.spentByOf.set(id, conflict.spentBy)
    state.lost.push(sequence)
    state.rejections.push(rejectionOf(row, conflict, toHex(block.headerHash)))
  } else if (isSame(row, theirs)) held.push({ sequence, position })
  else if (effectsOf(examine(row.cbor)) === effectsOf(theirs))
    held.push({ sequence, position, bytes: theirs })
  else {
    state.replaced.push(sequence)
    state.replacedIds.add(id)
  }
}

/** Over the first output that is gone of those that it names, which were there when it was accepted. */
function conflictOf(
  { block, index, spentByOf, replacedIds }: State,
  { named }: ExaminedTransaction,
): Conflict | undefined {
  const header = toHex(block.headerHash)
  for (const reference of named) {
    const key = outputReferenceKey(reference)
    const parent = toHex(reference.transactionId)
    const spentBy = index?.spenders.get(key)
    if (spentBy !== undefined) {
      const message = `The transaction names the output ${key}, which transaction ${toHex(spentBy)} spends`
      return { message: `${message} in block ${header}`, spentBy }
    }
    const isDropped = spentByOf.has(parent)
    if (!isDropped && !replacedIds.has(parent)) continue
    const message = isDropped
      ? `The transaction names an output of transaction ${parent}, which was dropped`
      : `The transaction names the output ${key}, which does not exist`
    return { message: `${message} because of block ${header}`, spentBy: spentByOf.get(parent) }
  }
  return undefined
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
