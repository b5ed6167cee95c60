import { column, rows } from './columns.js'
import type { Entries } from './entries.js'
import { IndexError } from './errors.js'
import type { IndexConnection } from './types.js'

const reference = { transaction_id: 'bytea', output_index: 'integer' } as const

/**
 * Adds what transactions did. The tables then say the same as if the transactions had been added one by one.
 */
export async function addEntries(
  connection: IndexConnection,
  schema: string,
  { transactions, outputs, assets, spent, mints, preimages, uses }: Entries,
): Promise<void> {
  const insert = async (table: string, columns: Parameters<typeof rows>[0], values: readonly string[]) => {
    const names = Object.keys(columns).join(', ')
    await connection.query(
      `INSERT INTO ${schema}.${table} (${names}) SELECT ${names} FROM ${rows(columns)} AS given`,
      values,
    )
  }

  if (transactions.length > 0) {
    await insert('transactions', { sequence: 'bigint', transaction_id: 'bytea', valid: 'boolean' }, [
      column(transactions.map(({ sequence }) => sequence)),
      column(transactions.map(({ id }) => id)),
      column(transactions.map(({ valid }) => valid)),
    ])
  }
  if (outputs.length > 0) {
    await insert(
      'outputs',
      {
        ...reference,
        sequence: 'bigint',
        owner: 'bytea',
        address: 'bytea',
        stake_credential: 'bytea',
        output: 'bytea',
        spent_by: 'bigint',
      },
      [
        column(outputs.map(({ reference }) => reference.transactionId)),
        column(outputs.map(({ reference }) => reference.index)),
        column(outputs.map(({ sequence }) => sequence)),
        column(outputs.map(({ owner }) => owner)),
        column(outputs.map(({ address }) => address)),
        column(outputs.map(({ stake }) => stake)),
        column(outputs.map(({ output }) => output)),
        column(outputs.map(({ spentBy }) => spentBy)),
      ],
    )
  }
  if (assets.length > 0) {
    const columns = {
      ...reference,
      policy: 'bytea',
      name: 'bytea',
      sequence: 'bigint',
      spent_by: 'bigint',
    } as const
    await connection.query(
      `INSERT INTO ${schema}.assets (transaction_id, output_index, policy, name, sequence, spent_by)
      SELECT transaction_id, output_index, policy, COALESCE(name, ''), sequence, spent_by
      FROM ${rows(columns)} AS given`,
      [
        column(assets.map(({ reference }) => reference.transactionId)),
        column(assets.map(({ reference }) => reference.index)),
        column(assets.map(({ policy }) => policy)),
        column(assets.map(({ name }) => name)),
        column(assets.map(({ sequence }) => sequence)),
        column(assets.map(({ spentBy }) => spentBy)),
      ],
    )
  }
  if (spent.length > 0) {
    const [changed] = await connection.query<{ outputs: number }>(
      `WITH given AS MATERIALIZED (SELECT * FROM ${rows({ ...reference, spent_by: 'bigint' })} AS given),
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
      [
        column(spent.map(({ reference }) => reference.transactionId)),
        column(spent.map(({ reference }) => reference.index)),
        column(spent.map(({ spentBy }) => spentBy)),
      ],
    )
    if (changed?.outputs !== spent.length) {
      throw new IndexError(
        'INDEX_DIVERGED',
        `Accepted transactions spend ${spent.length} outputs, of which the index has ${changed?.outputs ?? 0}`,
      )
    }
  }
  if (mints.length > 0) {
    await connection.query(
      `INSERT INTO ${schema}.mints (policy, name, sequence, quantity)
      SELECT policy, COALESCE(name, ''), sequence, quantity
      FROM ${rows({ policy: 'bytea', name: 'bytea', sequence: 'bigint', quantity: 'numeric' })} AS given`,
      [
        column(mints.map(({ policy }) => policy)),
        column(mints.map(({ name }) => name)),
        column(mints.map(({ sequence }) => sequence)),
        column(mints.map(({ quantity }) => quantity)),
      ],
    )
  }
  if (preimages.length > 0) {
    await connection.query(
      `INSERT INTO ${schema}.preimages (hash, language, bytes)
      SELECT hash, language, COALESCE(bytes, '')
      FROM ${rows({ hash: 'bytea', language: 'text', bytes: 'bytea' })} AS given
      ON CONFLICT (hash) DO NOTHING`,
      [
        column(preimages.map(({ hash }) => hash)),
        column(preimages.map(({ language }) => language)),
        column(preimages.map(({ bytes }) => bytes)),
      ],
    )
    await insert('preimage_uses', { hash: 'bytea', sequence: 'bigint' }, [
      column(uses.map(({ hash }) => hash)),
      column(uses.map(({ sequence }) => sequence)),
    ])
  }
}

/**
 * Undoes transactions of which nothing that the index keeps spends an output. Those that the index does not
 * have are ignored.
 */
export async function undo(
  connection: IndexConnection,
  schema: string,
  sequences: readonly bigint[],
): Promise<void> {
  if (sequences.length === 0) return
  const given = [sequences.map(String)]
  const among = '= ANY ($1::bigint[])'
  for (const table of ['outputs', 'assets']) {
    await connection.query(`DELETE FROM ${schema}.${table} WHERE sequence ${among}`, given)
    await connection.query(`UPDATE ${schema}.${table} SET spent_by = NULL WHERE spent_by ${among}`, given)
  }
  await connection.query(`DELETE FROM ${schema}.mints WHERE sequence ${among}`, given)
  // Every part sees the tables as they were before the statement.
  await connection.query(
    `WITH unused AS (
      DELETE FROM ${schema}.preimage_uses WHERE sequence ${among} RETURNING hash
    )
    DELETE FROM ${schema}.preimages AS p USING (SELECT DISTINCT hash FROM unused) AS unused
    WHERE p.hash = unused.hash AND NOT EXISTS (
      SELECT FROM ${schema}.preimage_uses AS u WHERE u.hash = p.hash AND u.sequence <> ALL ($1::bigint[])
    )`,
    given,
  )
  await connection.query(`DELETE FROM ${schema}.transactions WHERE sequence ${among}`, given)
}
