import { decodeHeader } from '@ratatosk/block'
import {
  bytesColumn,
  type Connection,
  type Database,
  int4,
  int8,
  type Parameter,
  parameterRows,
  type Row,
  type Sql,
  schema,
  selectList,
  sql,
  statement,
} from '@ratatosk/database'
import type { BlockVerdict, VerdictTransaction } from '@ratatosk/ports'
import type { Layer1Transaction } from '../blocks/types.js'
import { StoreError } from '../errors.js'
import { verdictQuestions, verdicts, verdictTransactions } from '../schema/verdict-tables.js'

/** Verdicts that are kept. */
const mostKept = 10_000
/** The most verdicts that a watcher follows. */
const mostOpen = 100

const { headerHash, height, header, commitId, state, reason, position } = verdicts
const { policy, fraud, foundAt, removedAt } = verdicts
const columns = {
  headerHash,
  height,
  header,
  commitId,
  state,
  reason,
  position,
  policy,
  fraud,
  foundAt,
  removedAt,
}
const select = (rest: Sql) =>
  statement(columns, sql`SELECT ${selectList(columns)} FROM ${schema}.verdicts ${rest}`)

const byHash = select(sql`WHERE header_hash = $1`)
const open = select(sql`WHERE state NOT IN ('removed', 'valid') ORDER BY number DESC LIMIT ${mostOpen}`)
const newestRemoved = select(sql`WHERE state = 'removed' ORDER BY removed_at DESC, number DESC LIMIT 1`)
const page = select(sql`
  WHERE ($1 = '' OR state::text = $1)
    AND ($2 = '' OR number < (SELECT number FROM ${schema}.verdicts WHERE header_hash = decode($2, 'hex')))
  ORDER BY number DESC LIMIT $3::integer`)

const { transactionId, stage, cbor, fee, locked, sentAt } = verdictTransactions
const shown = { block: verdictTransactions.headerHash, id: transactionId, stage, fee, sentAt }
const journal = { ...shown, cbor, locked }
const ofBlocks = sql`FROM ${schema}.verdict_transactions
  WHERE header_hash IN (SELECT header_hash FROM ${parameterRows({ header_hash: 'bytea' })} AS given)
  ORDER BY number`
const shownOf = statement(shown, sql`SELECT ${selectList(shown)} ${ofBlocks}`)
const journalOf = statement(journal, sql`SELECT ${selectList(journal)} ${ofBlocks}`)
const recorded = statement(
  journal,
  sql`SELECT ${selectList(journal)} FROM ${schema}.verdict_transactions
  WHERE transaction_id IN (SELECT id FROM ${parameterRows({ id: 'bytea' })} AS given)
  ORDER BY number`,
)

const add = sql`
  INSERT INTO ${schema}.verdicts AS known
    (header_hash, height, header, commit_id, reason, position, state)
  VALUES ($1, $2, $3, nullif($4::bytea, ''::bytea), $5, nullif($6::integer, -1), $7::${schema}.verdict_state)
  ON CONFLICT (header_hash) DO UPDATE
  SET height = EXCLUDED.height, commit_id = coalesce(EXCLUDED.commit_id, known.commit_id),
    reason = EXCLUDED.reason, position = EXCLUDED.position, removed_at = NULL,
    state = (CASE WHEN EXISTS (
      SELECT FROM ${schema}.verdict_transactions WHERE header_hash = $1 AND stage NOT IN ('question', 'prune')
    ) THEN 'removing' ELSE EXCLUDED.state END)::${schema}.verdict_state`
const prune = sql`
  DELETE FROM ${schema}.verdicts WHERE number <= (
    SELECT number FROM ${schema}.verdicts ORDER BY number DESC OFFSET ${mostKept} LIMIT 1
  )`

const record = sql`
  INSERT INTO ${schema}.verdict_transactions (transaction_id, header_hash, stage, cbor, fee, locked)
  VALUES ($1, $2, $3::${schema}.verdict_stage, $4, $5, $6)`
const prove = sql`UPDATE ${schema}.verdicts SET state = 'removing', policy = $2, fraud = $3
  WHERE header_hash = $1`
const keptQuestion = { reference: verdictQuestions.reference, output: verdictQuestions.output }
const keptQuestions = statement(
  keptQuestion,
  sql`SELECT ${selectList(keptQuestion)} FROM ${schema}.verdict_questions WHERE header_hash = $1`,
)
const keepQuestion = sql`
  INSERT INTO ${schema}.verdict_questions (header_hash, reference, output) VALUES ($1, $2, $3)
  ON CONFLICT (reference) DO NOTHING`
const drop = sql`DELETE FROM ${schema}.verdict_transactions WHERE transaction_id = $1`
const unprovable = sql`UPDATE ${schema}.verdicts SET state = 'unprovable', reason = $2 WHERE header_hash = $1`
const valid = sql`UPDATE ${schema}.verdicts SET state = 'valid', reason = $2 WHERE header_hash = $1`
const remove = sql`UPDATE ${schema}.verdicts SET state = 'removed', removed_at = clock_timestamp()
  WHERE header_hash = $1 AND state <> 'removed'`
const counts = statement(
  { state: verdicts.state, count: int4 },
  sql`SELECT state, count(*)::integer AS count FROM ${schema}.verdicts GROUP BY state`,
)
const spent = statement(
  { lovelace: int8 },
  sql`SELECT coalesce(sum(fee + locked), 0)::bigint AS lovelace FROM ${schema}.verdict_transactions
  WHERE sent_at > $1::timestamptz`,
)

export function openVerdicts(database: Database): Verdicts {
  const change = async (text: Sql, values: Parameter[]) => {
    await database.execute(text, values)
  }

  return {
    list: (query, signal) => listVerdicts(database, query, signal),

    found: ({ headerHash, height, header, commitId, reason, position, state = 'invalid' }) =>
      database.transaction(async (connection) => {
        const commit = commitId ?? new Uint8Array()
        await connection.execute(add, [headerHash, height, header, commit, reason, position ?? -1, state])
        await connection.execute(prune)
        const [found] = await withJournals(connection, await connection.query(byHash, [headerHash]))
        if (found === undefined) throw new StoreError('STORE_CONFLICT', 'The verdict is gone')
        return found
      }),

    open: async () => withJournals(database, await database.query(open)),

    newestRemoved: async () => (await withJournals(database, await database.query(newestRemoved)))[0],

    record: (headerHash, { id, stage, cbor, fee, locked }, proof) =>
      database.transaction(async (connection) => {
        if (proof !== undefined) await connection.execute(prove, [headerHash, proof.policy, proof.fraud])
        await connection.execute(record, [id, headerHash, stage, cbor, fee, locked])
      }),

    recorded: async (ids) => (await database.query(recorded, [bytesColumn(ids)])).map(recordedOf),
    keepQuestion: (headerHash, { reference, output }) =>
      change(keepQuestion, [headerHash, reference, output]),
    keptQuestions: (headerHash) => database.query(keptQuestions, [headerHash]),
    drop: (id) => change(drop, [id]),
    unprovable: (headerHash, reason) => change(unprovable, [headerHash, reason]),
    valid: (headerHash, reason) => change(valid, [headerHash, reason]),
    removed: (headerHash) => change(remove, [headerHash]),

    async counts() {
      return new Map((await database.query(counts)).map(({ state, count }) => [state, count]))
    },

    async spentSince(time) {
      const [row] = await database.query(spent, [time.toISOString()])
      return row?.lovelace ?? 0n
    },
  }
}

async function listVerdicts(
  database: Database,
  { limit, state, before }: Parameters<Verdicts['list']>[0],
  signal?: AbortSignal,
) {
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new StoreError('STORE_INVALID_ARGUMENT', 'The limit must be a whole number from 1')
  signal?.throwIfAborted()
  const rows = await database.query(page, [state ?? '', before === undefined ? '' : keyOf(before), limit + 1])
  const some = rows.slice(0, limit)
  if (some.length === 0) return { verdicts: [], hasMore: false }
  signal?.throwIfAborted()
  const all = await database.query(shownOf, [bytesColumn(some.map((row) => row.headerHash))])
  const transactions = groupByBlock(all)
  const listed = some.map((row): BlockVerdict => {
    const own = transactions.get(keyOf(row.headerHash)) ?? []
    const { headerHash, height, header } = row
    return {
      ...present(row),
      block: { headerHash, height, operatorKey: decodeHeader(header).operatorVkey },
      ...(row.position !== null && { position: row.position }),
      transactions: own.map(({ block: _, ...each }): VerdictTransaction => each),
      foundAt: row.foundAt,
      ...(row.removedAt !== null && { removedAt: row.removedAt }),
    }
  })
  return { verdicts: listed, hasMore: rows.length > limit }
}

async function withJournals(
  connection: Connection,
  rows: readonly Row<typeof columns>[],
): Promise<VerdictRecord[]> {
  if (rows.length === 0) return []
  const all = await connection.query(journalOf, [bytesColumn(rows.map((row) => row.headerHash))])
  const journals = groupByBlock(all)
  return rows.map((row) => ({
    ...present(row),
    headerHash: row.headerHash,
    height: row.height,
    header: row.header,
    ...(row.commitId !== null && { commitId: row.commitId }),
    journal: (journals.get(keyOf(row.headerHash)) ?? []).map(recordedOf),
  }))
}

const keyOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const recordedOf = ({ block: _, sentAt: _at, ...each }: Row<typeof journal>): RecordedTransaction => each

const present = ({ state, reason, policy, fraud }: Row<typeof columns>) => ({
  state,
  reason,
  ...(policy !== null && fraud !== null && { proof: { policy, fraud } }),
})

function groupByBlock<Each extends { readonly block: Uint8Array }>(
  transactions: readonly Each[],
): Map<string, Each[]> {
  const groups = new Map<string, Each[]>()
  for (const each of transactions) {
    const key = keyOf(each.block)
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return groups
}

/** The purpose of a transaction. */
export type VerdictStage = VerdictTransaction['stage']

interface VerdictsQuery {
  /** The most verdicts to return, from 1. */
  readonly limit: number
  readonly state?: BlockVerdict['state']
  /** Header hash of the last verdict of the page before. */
  readonly before?: Uint8Array
}

/** A block that is unavailable or invalid. */
export interface NewVerdict
  extends Pick<BlockVerdict['block'], 'headerHash' | 'height'>,
    Pick<BlockVerdict, 'reason' | 'position'> {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  /** Id of the transaction that committed the block. */
  readonly commitId?: Uint8Array
  /** By default it is invalid. */
  readonly state?: 'unavailable' | 'invalid'
}

/** A transaction to be sent, with its signed bytes. */
export interface RecordedTransaction extends Layer1Transaction, Omit<VerdictTransaction, 'sentAt'> {
  /** Lovelace in outputs that hold a question, or parts of a proof. */
  readonly locked: bigint
}

/** An output that holds another's question about a disputed block. */
interface KeptQuestion {
  /** CBOR of its reference. */
  readonly reference: Uint8Array
  /** CBOR. */
  readonly output: Uint8Array
}

/** A verdict as the watcher works on it. */
export interface VerdictRecord
  extends Pick<BlockVerdict['block'], 'headerHash' | 'height'>,
    Pick<BlockVerdict, 'state' | 'reason' | 'proof'> {
  /** Plutus data CBOR. */
  readonly header: Uint8Array
  readonly commitId?: Uint8Array
  /** In the order in which they were built. */
  readonly journal: readonly RecordedTransaction[]
}

/** The verdicts of a watcher. */
export interface Verdicts {
  /**
   * Reads a part of the list, newest first.
   *
   * @returns `verdicts`: none if `before` is not in the list; `hasMore`: whether others follow
   * @throws StoreError `STORE_INVALID_ARGUMENT`
   */
  list(
    query: VerdictsQuery,
    signal?: AbortSignal,
  ): Promise<{ readonly verdicts: BlockVerdict[]; readonly hasMore: boolean }>
  /**
   * Adds a verdict, and deletes the oldest beyond 10,000. One that is known becomes `removing` if it has
   * transactions besides questions: layer 1 shows its block, perhaps again.
   */
  found(verdict: NewVerdict): Promise<VerdictRecord>
  /** The newest verdicts whose blocks are not known to be removed or valid, at most 100. */
  open(): Promise<VerdictRecord[]>
  /** The newest verdict whose block is removed. */
  newestRemoved(): Promise<VerdictRecord | undefined>
  /**
   * Stores a transaction before it is sent. The verdict becomes `removing`, unless the transaction asks or
   * prunes.
   *
   * @param proof what is proved; absent if the transaction asks or prunes
   */
  record(
    headerHash: Uint8Array,
    transaction: RecordedTransaction,
    proof?: BlockVerdict['proof'],
  ): Promise<void>
  /** Those of some transactions that are stored, about any block, in the order in which they were built. */
  recorded(ids: readonly Uint8Array[]): Promise<RecordedTransaction[]>
  /** Keeps another's question about a block with a verdict, whose answer is needed. Repeating it is safe. */
  keepQuestion(headerHash: Uint8Array, question: KeptQuestion): Promise<void>
  /** The questions about a block that were kept, in no particular order. */
  keptQuestions(headerHash: Uint8Array): Promise<KeptQuestion[]>
  /** Deletes a transaction that layer 1 cannot include any more. */
  drop(id: Uint8Array): Promise<void>
  /** Sets why no proof removes a block. */
  unprovable(headerHash: Uint8Array, reason: string): Promise<void>
  /** The body of an unavailable block has come, and breaks no rule. */
  valid(headerHash: Uint8Array, reason: string): Promise<void>
  /** The state queue no longer has a block. Repeating it does not change the time. */
  removed(headerHash: Uint8Array): Promise<void>
  /** How many verdicts are in each state; without those in which none is. */
  counts(): Promise<ReadonlyMap<BlockVerdict['state'], number>>
  /** Lovelace that transactions recorded since a time cost and lock. */
  spentSince(time: Date): Promise<bigint>
}
