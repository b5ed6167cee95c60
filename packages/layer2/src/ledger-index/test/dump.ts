import type { SharedDriver } from '@ratatosk/database'

const tables = [
  'transactions',
  'totals',
  'outputs',
  'assets',
  'mints',
  'labels',
  'redeemers',
  'withdrawals',
  'preimages',
  'preimage_uses',
]

/** Every row of the index in order, without its progress, which may pass transactions dropped earlier. */
export async function dumpIndex(database: SharedDriver, schema: string): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    // A chunk stays when its transactions are undone.
    const kept = table === 'totals' ? 'WHERE transactions > 0' : ''
    found[table] = await readRows(
      database,
      `SELECT to_json(t)::text AS row FROM "${schema}".${table} AS t ${kept} ORDER BY 1`,
    )
  }
  return found
}

/** The unspent outputs of the index and those of the ledger's own table, which validation writes. */
export async function unspentOf(database: SharedDriver, schema: string, storeSchema: string) {
  const list = `to_json(ARRAY[encode(transaction_id, 'hex'), output_index::text, encode(output, 'hex'),
    encode(address, 'hex')])::text`
  const read = (from: string) => readRows(database, `SELECT ${list} AS row FROM ${from} ORDER BY 1`)
  return {
    index: await read(`"${schema}".outputs WHERE spent_by IS NULL`),
    ledger: await read(`"${storeSchema}".mempool_ledger`),
  }
}

async function readRows(database: SharedDriver, text: string): Promise<string[]> {
  const { rows } = await database.run(text, [])
  return (rows as readonly { readonly row: string }[]).map(({ row }) => row)
}
