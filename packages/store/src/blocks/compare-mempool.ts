import { createPauses } from '@ratatosk/block'
import { type Connection, nullable, type Row, schema, sql, statement, text, toHex } from '@ratatosk/database'
import { outputReferenceKey } from '@ratatosk/ledger'
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
