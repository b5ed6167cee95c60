import {
  bool,
  bytea,
  bytesColumn,
  type Computed,
  type Database,
  int4,
  int8,
  parameterRows,
  queryInIndexOrder,
  type Row,
  schema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { decodeAddress, decodeNativeScript, type Script } from '@ratatosk/ledger'
import { ownerOf } from './entries.js'
import { type outputRow, outputsStatement } from './output-statement.js'
import { parametersOf, partOf, until } from './parameters.js'
import type { IndexedOutput, IndexQueries } from './types.js'

const transactionRow = { sequence: int8, id: bytea, valid: bool }
const transactionById = statement(
  transactionRow,
  sql`SELECT sequence, transaction_id AS id, valid FROM ${schema}.transactions WHERE transaction_id = $1`,
)

// A genesis output comes from no transaction that the index has.
const idOf = (which: string) => sql`COALESCE(
  (SELECT transaction_id FROM ${schema}.transactions AS t WHERE t.sequence = found.${which}),
  (SELECT transaction_id FROM ${schema}.outputs AS o WHERE o.sequence = found.${which} LIMIT 1)
) AS ${which}`

const language: Computed<Script['language']> = { sqlType: 'text' }
const datumsByHash = statement(
  { hash: bytea, bytes: bytea },
  sql`SELECT p.hash, p.bytes FROM ${parameterRows({ hash: 'bytea' })} AS given
  JOIN ${schema}.preimages AS p USING (hash) WHERE p.language IS NULL`,
)
const scriptByHash = statement(
  { language, bytes: bytea },
  sql`SELECT language, bytes FROM ${schema}.preimages WHERE hash = $1 AND language IS NOT NULL`,
)

export function openQueries(database: Database): IndexQueries {
  return {
    async outputs(query, part, at = {}) {
      const { statement, parameters } = outputsStatement(query, part, at)
      return (await queryInIndexOrder(database, statement, parameters)).map(toOutput)
    },

    async transaction(id) {
      const [row] = await database.query(transactionById, [id])
      return row
    },

    async history(address, part, { sequence } = {}) {
      const values = parametersOf()
      const owner = values.add(ownerOf(decodeAddress(address)))
      const here = `o.owner = ${owner} AND o.address = ${values.add(address)}`
      const until = sequence === undefined ? undefined : values.add(sequence)
      const { direction, most, range } = partOf(part, values)
      const touched = (name: string) => sql`(
        SELECT DISTINCT o.${name} AS sequence FROM ${schema}.outputs AS o
        WHERE ${here} AND o.${name} > 0${until === undefined ? '' : ` AND o.${name} <= ${until}`}
        ORDER BY o.${name} ${direction} ${most}
      )`
      const page = statement(
        transactionRow,
        sql`SELECT t.sequence, t.transaction_id AS id, t.valid
        FROM (
          SELECT sequence FROM (${touched('sequence')} UNION ${touched('spent_by')}) AS touched
          ORDER BY sequence ${direction} ${range}
        ) AS page
        JOIN ${schema}.transactions AS t USING (sequence)
        ORDER BY sequence ${direction}`,
      )
      return queryInIndexOrder(database, page, values.all)
    },

    async labelled(label, part, { sequence } = {}) {
      const values = parametersOf()
      const here = `label = ${values.add(String(label))}::numeric${until(sequence, values)}`
      const { direction, range } = partOf(part, values)
      const page = statement(
        transactionRow,
        sql`SELECT t.sequence, t.transaction_id AS id, t.valid
        FROM (
          SELECT sequence FROM ${schema}.labels WHERE ${here} ORDER BY sequence ${direction} ${range}
        ) AS page
        JOIN ${schema}.transactions AS t USING (sequence)
        ORDER BY sequence ${direction}`,
      )
      return queryInIndexOrder(database, page, values.all)
    },

    async knowsAddress(address, { sequence } = {}) {
      const values = parametersOf()
      const owner = values.add(ownerOf(decodeAddress(address)))
      const known = statement(
        { known: bool },
        sql`SELECT EXISTS (
          SELECT FROM ${schema}.outputs
          WHERE owner = ${owner} AND address = ${values.add(address)}${until(sequence, values)}
        ) AS known`,
      )
      const [row] = await database.query(known, values.all)
      return row?.known ?? false
    },

    async assets(policy, part, { sequence } = {}) {
      const values = parametersOf()
      const here = policy === undefined ? '' : ` AND policy = ${values.add(policy)}`
      const before = until(sequence, values)
      const { direction, range } = partOf(part, values)
      const order = `sequence ${direction}, policy ${direction}, name ${direction}`
      const assets = statement(
        { policy: bytea, name: bytea, quantity: text },
        sql`SELECT policy, name, (
          SELECT total FROM ${schema}.mints AS m
          WHERE m.policy = page.policy AND m.name = page.name${before} ORDER BY sequence DESC LIMIT 1
        )::text AS quantity
        FROM (
          SELECT sequence, policy, name FROM ${schema}.mints
          WHERE nth = 1${here}${before} ORDER BY ${order} ${range}
        ) AS page ORDER BY ${order}`,
      )
      const found = await queryInIndexOrder(database, assets, values.all)
      return found.map((asset) => ({ ...asset, quantity: BigInt(asset.quantity) }))
    },

    async asset(policy, name, { sequence } = {}) {
      const values = parametersOf()
      const here = `policy = ${values.add(policy)} AND name = ${values.add(name)}`
      const asset = statement(
        { quantity: text, mints: int4, first: bytea, last: bytea },
        sql`SELECT total::text AS quantity, mints, ${idOf('first')}, ${idOf('last')} FROM (
          SELECT total, nth AS mints, sequence AS last, (
            SELECT sequence FROM ${schema}.mints WHERE ${here} ORDER BY sequence LIMIT 1
          ) AS first
          FROM ${schema}.mints WHERE ${here}${until(sequence, values)} ORDER BY sequence DESC LIMIT 1
        ) AS found`,
      )
      const [row] = await queryInIndexOrder(database, asset, values.all)
      return row && { ...row, quantity: BigInt(row.quantity) }
    },

    datums: (hashes) => database.query(datumsByHash, [bytesColumn(hashes)]),

    async script(hash) {
      const [row] = await database.query(scriptByHash, [hash])
      if (row === undefined) return undefined
      const { language, bytes } = row
      return language === 'native' ? decodeNativeScript(bytes) : { language, hash, bytes }
    },
  }
}

function toOutput({ spentBy, spentIn, spentValid, ...output }: Row<typeof outputRow>): IndexedOutput {
  if (spentBy === null || spentIn === null || spentValid === null) return output
  return { ...output, spent: { sequence: spentBy, id: spentIn, valid: spentValid } }
}
