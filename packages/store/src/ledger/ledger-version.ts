import { type Database, schema, sql, statement } from '@ratatosk/database'
import { deployment } from '../schema/tables.js'

const begin = sql`INSERT INTO ${schema}.deployment (ledger_version) VALUES ($1) ON CONFLICT DO NOTHING`
const begun = statement(
  { ledgerVersion: deployment.ledgerVersion },
  sql`SELECT ledger_version AS "ledgerVersion" FROM ${schema}.deployment`,
)

/** See `Store.ledgerVersion`. Of processes that begin at the same time, the first one decides. */
export async function ledgerVersion(database: Database, first: number): Promise<number> {
  await database.execute(begin, [first])
  const [row] = await database.query(begun)
  return row?.ledgerVersion ?? first
}
