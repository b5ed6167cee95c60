import {
  bytesColumn,
  type Connection,
  int4,
  type Parameter,
  parameterRows,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import type { OutputReference } from '@ratatosk/ledger'
import type { IndexEntries } from './entries.js'
import { chunkBits, IndexError } from './tables.js'

const reference = { transaction_id: 'bytea', output_index: 'integer' } as const

const insertTransactions = insert('transactions', {
  sequence: 'bigint',
  transaction_id: 'bytea',
  valid: 'boolean',
  output: 'bigint',
  fee: 'bigint',
})

/** The totals of chunks, of the transactions of a part of a statement. */
const totalsOf = (transactions: string) => sql`
  SELECT sequence >> ${chunkBits} AS chunk, count(fee) AS transactions,
    COALESCE(sum(output), 0) AS output, COALESCE(sum(fee), 0) AS fees
  FROM ${transactions} GROUP BY 1`

const addTotals = sql`INSERT INTO ${schema}.totals AS t (chunk, transactions, output, fees)
  ${totalsOf(`${parameterRows({ sequence: 'bigint', output: 'bigint', fee: 'bigint' })} AS given`)}
  ON CONFLICT (chunk) DO UPDATE SET transactions = t.transactions + EXCLUDED.transactions,
    output = t.output + EXCLUDED.output, fees = t.fees + EXCLUDED.fees`

const insertOutputs = insert('outputs', {
  ...reference,
  sequence: 'bigint',
  owner: 'bytea',
  address: 'bytea',
  stake_credential: 'bytea',
  reference_script: 'bytea',
  output: 'bytea',
  spent_by: 'bigint',
})

const insertAssets = insert('assets', {
  ...reference,
  policy: 'bytea',
  name: 'bytea',
  sequence: 'bigint',
  spent_by: 'bigint',
})

const mint = {
  policy: 'bytea',
  name: 'bytea',
  sequence: 'bigint',
  quantity: 'numeric',
  described: 'boolean',
} as const

/** Mints after one that the index has: `before` is that one, NULL if there is none. */
const counted = (before: string, quantity: string) => sql`
  COALESCE(${before}.total, 0) + sum(${quantity}) OVER mints AS total,
  COALESCE(${before}.nth, 0) + (row_number() OVER mints)::integer AS nth`

/** The newest mint of the same asset that the index has, as far as a condition holds. */
const newestBefore = (asset: string, condition = '') => sql`LEFT JOIN LATERAL (
    SELECT total, nth FROM ${schema}.mints AS m
    WHERE m.policy = ${asset}.policy AND m.name = ${asset}.name${condition}
    ORDER BY m.sequence DESC LIMIT 1
  ) AS before ON true`

// The sequences of a step are above all that the index has.
const insertMints = sql`INSERT INTO ${schema}.mints (policy, name, sequence, quantity, described, total, nth)
  SELECT given.policy, given.name, sequence, quantity, described, ${counted('before', 'quantity')}
  FROM ${parameterRows(mint)} AS given ${newestBefore('given')}
  WINDOW mints AS (PARTITION BY given.policy, given.name ORDER BY sequence)`

/** The number of a label's transactions that the index has before a row. */
const labelledBefore = (row: string, condition = '') => sql`LEFT JOIN LATERAL (
    SELECT nth FROM ${schema}.labels AS m
    WHERE m.label = ${row}.label${condition} ORDER BY m.sequence DESC LIMIT 1
  ) AS before ON true`
const countedLabels = `COALESCE(before.nth, 0) + (row_number() OVER labels)::integer AS nth`

const insertLabels = sql`INSERT INTO ${schema}.labels (label, sequence, nth)
  SELECT given.label, sequence, ${countedLabels}
  FROM ${parameterRows({ label: 'numeric', sequence: 'bigint' })} AS given ${labelledBefore('given')}
  WINDOW labels AS (PARTITION BY given.label ORDER BY sequence)`

const redeemer = {
  sequence: 'bigint',
  nth: 'integer',
  purpose: 'text',
  pointer: 'integer',
  data: 'bytea',
  memory: 'bigint',
  steps: 'bigint',
} as const
const redeemerNames = Object.keys(redeemer).join(', ')

// The owner of an output that a script locks is that script.
const insertRedeemers = sql`INSERT INTO ${schema}.redeemers (script, ${redeemerNames})
  SELECT COALESCE(script, (
    SELECT owner FROM ${schema}.outputs AS o
    WHERE o.transaction_id = given.transaction_id AND o.output_index = given.output_index
  )), ${redeemerNames} FROM ${parameterRows({ script: 'bytea', ...reference, ...redeemer })} AS given`

const insertWithdrawals = insert('withdrawals', { stake_credential: 'bytea', sequence: 'bigint' })

const insertPreimages = sql`${insert('preimages', {
  hash: 'bytea',
  language: 'text',
  bytes: 'bytea',
  sequence: 'bigint',
})}
  ON CONFLICT (hash) DO NOTHING`

const insertUses = insert('preimage_uses', { hash: 'bytea', sequence: 'bigint' })

const markSpent = statement(
  { outputs: int4 },
  sql`WITH given AS MATERIALIZED (
    SELECT * FROM ${parameterRows({ ...reference, spent_by: 'bigint' })} AS given
  ),
  outputs AS (
    UPDATE ${schema}.outputs AS o SET spent_by = given.spent_by FROM given
    WHERE o.transaction_id = given.transaction_id AND o.output_index = given.output_index
      AND o.spent_by IS NULL
    RETURNING 1
  ), assets AS (
    UPDATE ${schema}.assets AS a SET spent_by = given.spent_by FROM given
    WHERE a.transaction_id = given.transaction_id AND a.output_index = given.output_index
  )
  SELECT count(*)::integer AS outputs FROM outputs`,
)

function insert(table: string, columns: Parameters<typeof parameterRows>[0]) {
  const names = Object.keys(columns).join(', ')
  return sql`INSERT INTO ${schema}.${table} (${names})
    SELECT ${names} FROM ${parameterRows(columns)} AS given`
}

/** Adds what transactions did. The tables are then as if the transactions had been added one by one. */
export async function addEntries(connection: Connection, entries: IndexEntries): Promise<void> {
  const { transactions, outputs, assets, spent, mints, labels, preimages, uses } = entries
  if (transactions.length > 0) {
    await connection.execute(insertTransactions, [
      transactions.map(({ sequence }) => sequence),
      bytesColumn(transactions.map(({ id }) => id)),
      transactions.map(({ valid }) => valid),
      transactions.map(({ sums }) => sums?.output),
      transactions.map(({ sums }) => sums?.fee),
    ])
    await connection.execute(addTotals, [
      transactions.map(({ sequence }) => sequence),
      transactions.map(({ sums }) => sums?.output),
      transactions.map(({ sums }) => sums?.fee),
    ])
  }
  if (outputs.length > 0) {
    await connection.execute(insertOutputs, [
      ...referencesOf(outputs),
      outputs.map(({ sequence }) => sequence),
      bytesColumn(outputs.map(({ owner }) => owner)),
      bytesColumn(outputs.map(({ address }) => address)),
      bytesColumn(outputs.map(({ stake }) => stake)),
      bytesColumn(outputs.map(({ script }) => script)),
      bytesColumn(outputs.map(({ output }) => output)),
      outputs.map(({ spentBy }) => spentBy),
    ])
  }
  if (assets.length > 0) {
    await connection.execute(insertAssets, [
      ...referencesOf(assets),
      bytesColumn(assets.map(({ policy }) => policy)),
      bytesColumn(assets.map(({ name }) => name)),
      assets.map(({ sequence }) => sequence),
      assets.map(({ spentBy }) => spentBy),
    ])
  }
  if (spent.length > 0) {
    const [changed] = await connection.query(markSpent, [
      ...referencesOf(spent),
      spent.map(({ spentBy }) => spentBy),
    ])
    if (changed?.outputs !== spent.length) {
      throw new IndexError(
        'INDEX_DIVERGED',
        `Of ${spent.length} outputs that accepted transactions spend, the index has ${changed?.outputs ?? 0}`,
      )
    }
  }
  if (mints.length > 0) {
    await connection.execute(insertMints, [
      bytesColumn(mints.map(({ policy }) => policy)),
      bytesColumn(mints.map(({ name }) => name)),
      mints.map(({ sequence }) => sequence),
      mints.map(({ quantity }) => quantity),
      mints.map(({ described }) => described),
    ])
  }
  if (labels.length > 0) {
    await connection.execute(insertLabels, [
      labels.map(({ label }) => label),
      labels.map(({ sequence }) => sequence),
    ])
  }
  if (preimages.length > 0) {
    await connection.execute(insertPreimages, [
      bytesColumn(preimages.map(({ hash }) => hash)),
      preimages.map(({ language }) => language),
      bytesColumn(preimages.map(({ bytes }) => bytes)),
      preimages.map(({ sequence }) => sequence),
    ])
    await connection.execute(insertUses, [
      bytesColumn(uses.map(({ hash }) => hash)),
      uses.map(({ sequence }) => sequence),
    ])
  }
  await addScriptRuns(connection, entries)
}

/** The outputs of the transactions, and those that they spend, are there already. */
async function addScriptRuns(
  connection: Connection,
  { redeemers, withdrawals }: IndexEntries,
): Promise<void> {
  if (redeemers.length > 0) {
    await connection.execute(insertRedeemers, [
      bytesColumn(redeemers.map(({ script }) => script)),
      ...referencesOf(redeemers.map(({ output }) => ({ reference: output }))),
      redeemers.map(({ sequence }) => sequence),
      redeemers.map(({ nth }) => nth),
      redeemers.map(({ purpose }) => purpose),
      redeemers.map(({ index }) => index),
      bytesColumn(redeemers.map(({ data }) => data)),
      redeemers.map(({ executionUnits }) => executionUnits.memory),
      redeemers.map(({ executionUnits }) => executionUnits.steps),
    ])
  }
  if (withdrawals.length > 0) {
    await connection.execute(insertWithdrawals, [
      bytesColumn(withdrawals.map(({ stake }) => stake)),
      withdrawals.map(({ sequence }) => sequence),
    ])
  }
}

function referencesOf(entries: readonly { readonly reference: OutputReference | undefined }[]): Parameter[] {
  return [
    bytesColumn(entries.map(({ reference }) => reference?.transactionId)),
    entries.map(({ reference }) => reference?.index),
  ]
}

const among = '= ANY ($1::bigint[])'

// Every part of a statement sees the tables as they were before it. The asset's later mints are counted anew.
const undoMints = sql`WITH gone AS (
    DELETE FROM ${schema}.mints WHERE sequence ${among} RETURNING policy, name, sequence
  ), asset AS (
    SELECT policy, name, min(sequence) AS sequence FROM gone GROUP BY policy, name
  ), later AS (
    SELECT m.policy, m.name, m.sequence, ${counted('before', 'm.quantity')}
    FROM asset JOIN ${schema}.mints AS m USING (policy, name)
    ${newestBefore('asset', ' AND m.sequence < asset.sequence')}
    WHERE m.sequence > asset.sequence AND m.sequence <> ALL ($1::bigint[])
    WINDOW mints AS (PARTITION BY m.policy, m.name ORDER BY m.sequence)
  )
  UPDATE ${schema}.mints AS m SET total = later.total, nth = later.nth FROM later
  WHERE m.policy = later.policy AND m.name = later.name AND m.sequence = later.sequence`

const undoLabels = sql`WITH gone AS (
    DELETE FROM ${schema}.labels WHERE sequence ${among} RETURNING label, sequence
  ), first AS (
    SELECT label, min(sequence) AS sequence FROM gone GROUP BY label
  ), later AS (
    SELECT m.label, m.sequence, ${countedLabels}
    FROM first JOIN ${schema}.labels AS m USING (label)
    ${labelledBefore('first', ' AND m.sequence < first.sequence')}
    WHERE m.sequence > first.sequence AND m.sequence <> ALL ($1::bigint[])
    WINDOW labels AS (PARTITION BY m.label ORDER BY m.sequence)
  )
  UPDATE ${schema}.labels AS m SET nth = later.nth FROM later
  WHERE m.label = later.label AND m.sequence = later.sequence`

const undoPreimages = sql`WITH gone AS (
    DELETE FROM ${schema}.preimage_uses WHERE sequence ${among} RETURNING hash
  ), used AS (
    SELECT hash, (
      SELECT u.sequence FROM ${schema}.preimage_uses AS u
      WHERE u.hash = gone.hash AND u.sequence <> ALL ($1::bigint[]) ORDER BY u.sequence LIMIT 1
    ) AS first FROM (SELECT DISTINCT hash FROM gone) AS gone
  ), unused AS (
    DELETE FROM ${schema}.preimages AS p USING used WHERE p.hash = used.hash AND used.first IS NULL
  )
  UPDATE ${schema}.preimages AS p SET sequence = used.first FROM used
  WHERE p.hash = used.hash AND p.sequence <> used.first`

const undoStatements = [
  ...['redeemers', 'withdrawals'].map((table) => sql`DELETE FROM ${schema}.${table} WHERE sequence ${among}`),
  ...['outputs', 'assets'].flatMap((table) => [
    sql`DELETE FROM ${schema}.${table} WHERE sequence ${among}`,
    sql`UPDATE ${schema}.${table} SET spent_by = NULL WHERE spent_by ${among}`,
  ]),
  undoMints,
  undoLabels,
  undoPreimages,
  sql`WITH gone AS (
      DELETE FROM ${schema}.transactions WHERE sequence ${among} RETURNING sequence, output, fee
    ), less AS (${totalsOf('gone')})
    UPDATE ${schema}.totals AS t SET transactions = t.transactions - less.transactions,
      output = t.output - less.output, fees = t.fees - less.fees
    FROM less WHERE t.chunk = less.chunk`,
]

/** Undoes transactions with no indexed spender of their outputs. Ignores transactions not indexed. */
export async function undo(connection: Connection, sequences: readonly bigint[]): Promise<void> {
  if (sequences.length === 0) return
  for (const statement of undoStatements) await connection.execute(statement, [sequences])
}
