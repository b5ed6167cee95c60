import {
  bool,
  bytea,
  bytesColumn,
  type Computed,
  type Database,
  int4,
  int8,
  nullable,
  parameterRows,
  queryInIndexOrder,
  type Row,
  type Sql,
  schema,
  sql,
  statement,
  text,
} from '@ratatosk/database'
import { decodeAddress, decodeNativeScript, type RedeemerPurpose, type Script } from '@ratatosk/ledger'
import {
  listOf,
  type Parameters,
  parametersOf,
  partOf,
  producedSince,
  producedUntil,
  until,
} from './conditions.js'
import { ownerOf } from './entries.js'
import { chunkBits } from './tables.js'
import type { At, IndexedOutput, IndexPart, IndexQueries, OutputPart, OutputQuery } from './types.js'

const largestSequence = 2n ** 62n

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

// Parameters: a sequence before the first one, and the last one. It adds chunks and what is beside them.
const chunkOf = (sequence: string) => `(${sequence}::bigint >> ${chunkBits})`
const [firstChunk, lastChunk] = [chunkOf('$1'), chunkOf('$2')] as const
const totalsBetween = statement(
  { transactions: int8, output: text, fees: text },
  sql`SELECT COALESCE(sum(transactions), 0)::bigint AS transactions,
    COALESCE(sum(output), 0)::text AS output, COALESCE(sum(fees), 0)::text AS fees
  FROM (
    SELECT transactions, output, fees FROM ${schema}.totals
    WHERE chunk > ${firstChunk} AND chunk < ${lastChunk}
    UNION ALL
    SELECT count(fee), sum(output), sum(fee) FROM ${schema}.transactions
    WHERE sequence > $1 AND sequence <= $2 AND sequence < ((${firstChunk} + 1) << ${chunkBits})
    UNION ALL
    SELECT count(fee), sum(output), sum(fee) FROM ${schema}.transactions
    WHERE sequence > $1 AND sequence <= $2 AND sequence >= (${lastChunk} << ${chunkBits})
      AND ${lastChunk} > ${firstChunk}
  ) AS parts`,
)

const language: Computed<Script['language']> = { sqlType: 'text' }
const purpose: Computed<RedeemerPurpose> = { sqlType: 'text' }
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
    ...outputQueries(database),
    ...transactionQueries(database),
    ...assetQueries(database),
    ...scriptQueries(database),
  }
}

type Queries<Name extends keyof IndexQueries> = Pick<IndexQueries, Name>

function outputQueries(database: Database): Queries<'outputs' | 'knowsAddress' | 'datums'> {
  return {
    async outputs(query, part, at = {}) {
      const { statement, parameters } = outputsStatement(query, part, at)
      return (await queryInIndexOrder(database, statement, parameters)).map(toOutput)
    },

    async knowsAddress(address, at = {}) {
      const values = parametersOf()
      const owner = values.add(ownerOf(decodeAddress(address)))
      const known = statement(
        { known: bool },
        sql`SELECT EXISTS (
          SELECT FROM ${schema}.outputs
          WHERE owner = ${owner} AND address = ${values.add(address)}
            AND ${producedUntil(at, values, 'sequence')}
        ) AS known`,
      )
      const [row] = await database.query(known, values.all)
      return row?.known ?? false
    },

    datums: (hashes) => database.query(datumsByHash, [bytesColumn(hashes)]),
  }
}

function transactionQueries(
  database: Database,
): Queries<'transaction' | 'history' | 'totals' | 'labelled' | 'labels' | 'withdrawals'> {
  return {
    async transaction(id) {
      const [row] = await database.query(transactionById, [id])
      return row
    },

    async history(query, part, at = {}, since = {}) {
      const values = parametersOf()
      const isHeld = 'policy' in query
      const here = isHeld ? heldOf(query, values) : conditionsOf(query, values)
      const { direction, most, range } = partOf(part, values)
      const touched = (name: string) => {
        const when = [producedUntil(at, values, name), producedSince(since, values, name)]
        return sql`(
          SELECT DISTINCT ${name} AS sequence FROM ${schema}.${isHeld ? 'assets' : 'outputs'} AS x
          WHERE ${[...here, `${name} > 0`, ...when].join(' AND ')}
          ORDER BY ${name} ${direction} ${most}
        )`
      }
      const paid = touched('x.sequence')
      const found = isHeld ? paid : sql`${paid} UNION ${touched('x.spent_by')}`
      const page = statement(
        transactionRow,
        sql`SELECT t.sequence, t.transaction_id AS id, t.valid
        FROM (
          SELECT sequence FROM (${found}) AS touched
          ORDER BY sequence ${direction} ${range}
        ) AS page
        JOIN ${schema}.transactions AS t USING (sequence)
        ORDER BY sequence ${direction}`,
      )
      return queryInIndexOrder(database, page, values.all)
    },

    async totals(after = -1n, until = largestSequence) {
      const [row] = await queryInIndexOrder(database, totalsBetween, [after, until])
      return {
        transactions: Number(row?.transactions ?? 0n),
        output: BigInt(row?.output ?? 0),
        fees: BigInt(row?.fees ?? 0),
      }
    },

    async labels(part, at = {}) {
      const values = parametersOf()
      const before = until(at, values)
      const { direction, range } = partOf(part, values)
      const page = statement(
        { label: text, count: int4 },
        sql`SELECT label::text AS label, (
          SELECT nth FROM ${schema}.labels AS l
          WHERE l.label = page.label${before} ORDER BY sequence DESC LIMIT 1
        ) AS count
        FROM (
          SELECT label FROM ${schema}.labels WHERE nth = 1${before} ORDER BY label ${direction} ${range}
        ) AS page ORDER BY page.label ${direction}`,
      )
      const found = await queryInIndexOrder(database, page, values.all)
      return found.map(({ label, count }) => ({ label: BigInt(label), count }))
    },

    async labelled(label, part, at = {}) {
      const values = parametersOf()
      const here = `label = ${values.add(String(label))}::numeric${until(at, values)}`
      return transactionsIn(database, 'labels', here, part, values)
    },

    async withdrawals(stakeCredential, part, at = {}) {
      const values = parametersOf()
      const here = `stake_credential = ${values.add(stakeCredential)}${until(at, values)}`
      return transactionsIn(database, 'withdrawals', here, part, values)
    },
  }
}

/** The transactions of a table's rows that meet a condition: at most one row of each does. */
function transactionsIn(
  database: Database,
  table: string,
  condition: string,
  part: IndexPart,
  values: Parameters,
) {
  const { direction, range } = partOf(part, values)
  const page = statement(
    transactionRow,
    sql`SELECT t.sequence, t.transaction_id AS id, t.valid
    FROM (
      SELECT sequence FROM ${schema}.${table} WHERE ${condition} ORDER BY sequence ${direction} ${range}
    ) AS page
    JOIN ${schema}.transactions AS t USING (sequence)
    ORDER BY sequence ${direction}`,
  )
  return queryInIndexOrder(database, page, values.all)
}

function scriptQueries(database: Database): Queries<'script' | 'scripts' | 'redeemers'> {
  return {
    async script(hash) {
      const [row] = await database.query(scriptByHash, [hash])
      if (row === undefined) return undefined
      const { language, bytes } = row
      return language === 'native' ? decodeNativeScript(bytes) : { language, hash, bytes }
    },

    async scripts(part, at = {}) {
      const values = parametersOf()
      const before = until(at, values)
      const { direction, range } = partOf(part, values)
      const scripts = statement(
        { hash: bytea },
        sql`SELECT hash FROM ${schema}.preimages WHERE language IS NOT NULL${before}
        ORDER BY sequence ${direction}, hash ${direction} ${range}`,
      )
      return (await queryInIndexOrder(database, scripts, values.all)).map(({ hash }) => hash)
    },

    async redeemers(script, part, at = {}) {
      const values = parametersOf()
      const here = `script = ${values.add(script)}${until(at, values)}`
      const { direction, range } = partOf(part, values)
      const order = `sequence ${direction}, nth ${direction}`
      const redeemers = statement(
        { id: bytea, purpose, index: int4, data: bytea, memory: int8, steps: int8 },
        sql`SELECT t.transaction_id AS id, purpose, pointer AS index, data, memory, steps
        FROM (
          SELECT * FROM ${schema}.redeemers WHERE ${here} ORDER BY ${order} ${range}
        ) AS page
        JOIN ${schema}.transactions AS t USING (sequence)
        ORDER BY ${order}`,
      )
      return queryInIndexOrder(database, redeemers, values.all)
    },
  }
}

function assetQueries(database: Database): Queries<'assets' | 'asset' | 'mints'> {
  return {
    async assets(policy, part, at = {}) {
      const values = parametersOf()
      const here = policy === undefined ? '' : ` AND policy = ${values.add(policy)}`
      const before = until(at, values)
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

    async asset(policy, name, at = {}) {
      const values = parametersOf()
      const here = `policy = ${values.add(policy)} AND name = ${values.add(name)}`
      const before = until(at, values)
      const asset = statement(
        { quantity: text, mints: int4, first: bytea, last: bytea, described: nullable(bytea) },
        sql`SELECT total::text AS quantity, mints, ${idOf('first')}, ${idOf('last')},
          ${idOf('described')} FROM (
          SELECT total, nth AS mints, sequence AS last, (
            SELECT sequence FROM ${schema}.mints WHERE ${here} ORDER BY sequence LIMIT 1
          ) AS first, (
            SELECT sequence FROM ${schema}.mints WHERE ${here} AND described${before}
            ORDER BY sequence DESC LIMIT 1
          ) AS described
          FROM ${schema}.mints WHERE ${here}${before} ORDER BY sequence DESC LIMIT 1
        ) AS found`,
      )
      const [row] = await queryInIndexOrder(database, asset, values.all)
      if (row === undefined) return undefined
      const { described, quantity, ...found } = row
      return { ...found, quantity: BigInt(quantity), ...(described && { described }) }
    },

    async mints(policy, name, part, at = {}) {
      const values = parametersOf()
      const here = `policy = ${values.add(policy)} AND name = ${values.add(name)}${until(at, values)}`
      const { direction, range } = partOf(part, values)
      const mints = statement(
        { id: bytea, quantity: text },
        sql`SELECT ${idOf('id')}, quantity::text AS quantity FROM (
          SELECT sequence AS id, quantity FROM ${schema}.mints
          WHERE ${here} ORDER BY sequence ${direction} ${range}
        ) AS found ORDER BY found.id ${direction}`,
      )
      const rows = await queryInIndexOrder(database, mints, values.all)
      return rows.map(({ id, quantity }) => ({ id, quantity: BigInt(quantity) }))
    },
  }
}

function toOutput({ spentBy, spentIn, spentValid, ...output }: Row<typeof outputRow>): IndexedOutput {
  if (spentBy === null || spentIn === null || spentValid === null) return output
  return { ...output, spent: { sequence: spentBy, id: spentIn, valid: spentValid } }
}

const outputRow = {
  transactionId: bytea,
  index: int4,
  sequence: int8,
  output: bytea,
  collateralReturn: bool,
  spentBy: nullable(int8),
  spentIn: nullable(bytea),
  spentValid: nullable(bool),
}

function outputsStatement(query: OutputQuery, part: OutputPart, at: At) {
  const values = parametersOf()
  const conditions = conditionsOf(query, values)
  const after = afterOf(part, values)
  const states = statesOf(query, at, values)
  const { direction, most, range } = partOf(part, values)
  const order = (table: string) => `${table}.sequence ${direction}, ${table}.output_index ${direction}`

  const held = query.policy === undefined ? undefined : heldOf(query, values)
  const branch = (state: readonly string[]): Sql => {
    const [from, where] =
      held === undefined
        ? [sql`${schema}.outputs AS x`, [...state, ...conditions, ...after]]
        : [
            // Limited here if nothing else selects: a page costs the same however many hold the asset.
            sql`(
              SELECT DISTINCT x.sequence, x.output_index FROM ${schema}.assets AS x
              WHERE ${[...held, ...state, ...after].join(' AND ')}
              ORDER BY ${order('x')} ${conditions.length === 0 ? most : ''}
            ) AS holding JOIN ${schema}.outputs AS x USING (sequence, output_index)`,
            conditions,
          ]
    const filter = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    return sql`(SELECT x.* FROM ${from} ${filter} ORDER BY ${order('x')} ${most})`
  }
  const spentUntil = at.sequence === undefined ? '' : ` AND o.spent_by <= ${values.add(at.sequence)}`
  const found = states.map(branch).reduce((all, next) => sql`${all} UNION ALL ${next}`)
  const outputs = statement(
    outputRow,
    sql`SELECT o.transaction_id AS "transactionId", o.output_index AS index, o.sequence, o.output,
      COALESCE(NOT producer.valid, false) AS "collateralReturn",
      spender.sequence AS "spentBy", spender.transaction_id AS "spentIn", spender.valid AS "spentValid"
    FROM (SELECT * FROM (${found}) AS found ORDER BY ${order('found')} ${range}) AS o
    LEFT JOIN ${schema}.transactions AS producer ON producer.sequence = o.sequence
    LEFT JOIN ${schema}.transactions AS spender ON spender.sequence = o.spent_by${spentUntil}
    ORDER BY ${order('o')}`,
  )
  return { statement: outputs, parameters: values.all }
}

/** Conditions on an asset that an output holds. `x` is the table of assets. */
function heldOf({ policy, assetName }: OutputQuery, values: Parameters): string[] {
  return [
    ...(policy === undefined ? [] : [`x.policy = ${values.add(policy)}`]),
    ...(assetName === undefined ? [] : [`x.name = ${values.add(assetName)}`]),
  ]
}

/** Conditions on the output alone. `x` is the table of outputs. */
function conditionsOf(query: OutputQuery, values: Parameters): string[] {
  const { address, paymentCredential, stakeCredential, references, transaction, referenceScript } = query
  const conditions: string[] = []
  if (address !== undefined) {
    conditions.push(`x.owner = ${values.add(ownerOf(decodeAddress(address)))}`)
    conditions.push(`x.address = ${values.add(address)}`)
  }
  if (paymentCredential !== undefined) conditions.push(`x.owner = ${values.add(paymentCredential)}`)
  if (stakeCredential !== undefined) conditions.push(`x.stake_credential = ${values.add(stakeCredential)}`)
  if (transaction !== undefined) conditions.push(`x.transaction_id = ${values.add(transaction)}`)
  if (referenceScript !== undefined) conditions.push(`x.reference_script = ${values.add(referenceScript)}`)
  if (references !== undefined) {
    const first = values.all.length + 1
    values.add(bytesColumn(references.map(({ transactionId }) => transactionId)))
    values.add(references.map(({ index }) => index))
    const given = parameterRows({ transaction_id: 'bytea', output_index: 'integer' }, first)
    conditions.push(
      `(x.transaction_id, x.output_index) IN (SELECT transaction_id, output_index FROM ${given} AS given)`,
    )
  }
  return conditions
}

/** The condition that an output comes after the one before the part. */
function afterOf({ after, order }: OutputPart, values: Parameters): string[] {
  if (after === undefined) return []
  const [sequence, index] = [values.add(after.sequence), values.add(BigInt(after.index))]
  const comes = order === 'newest-first' ? '<' : '>'
  return [`(x.sequence, x.output_index) ${comes} (${sequence}, ${index})`]
}

/** Conditions on production and spending: at least one must hold, and no two can. */
function statesOf(query: OutputQuery, at: At, values: Parameters): string[][] {
  const spending = spendingStates(query, at, values)
  return productionStates(query, at, values).flatMap((produced) =>
    spending.map((spent) => [...produced, ...spent]),
  )
}

/** The outputs of others have a list of their own: so the first list keeps the order of an index. */
function productionStates({ spent, produced, spentBy }: OutputQuery, at: At, values: Parameters): string[][] {
  const { sequence: until, waiting: without, credited } = at
  // The spender of an output comes after it.
  const isSpent = spent === true || spentBy !== undefined
  const range = produced ?? (until === undefined || isSpent ? {} : { until, without, others: credited })
  const { others = [] } = range
  const isOther = others.length === 0 ? [] : [[`x.sequence = ANY (${listOf(others, values)})`]]
  const list = range.without ?? []
  const isIn = rangeOf('x.sequence', range, values)
  return [list.length === 0 ? isIn : [...isIn, `x.sequence <> ALL (${listOf(list, values)})`], ...isOther]
}

function spendingStates({ spent, spentBy }: OutputQuery, { sequence }: At, values: Parameters): string[][] {
  if (spent === false) {
    return [
      ['x.spent_by IS NULL'],
      ...(sequence === undefined ? [] : [[`x.spent_by > ${values.add(sequence)}`]]),
    ]
  }
  if (spent === undefined && spentBy === undefined) return [[]]
  const { after, until = sequence } = spentBy ?? {}
  const last = sequence === undefined || until === undefined || until < sequence ? until : sequence
  const range = rangeOf('x.spent_by', { after, until: last }, values)
  return [range.length === 0 ? ['x.spent_by IS NOT NULL'] : range]
}

/** The conditions that a column is in a range. */
function rangeOf(
  column: string,
  { after, until }: { readonly after?: bigint | undefined; readonly until?: bigint | undefined },
  values: Parameters,
): string[] {
  return [
    ...(after === undefined ? [] : [`${column} > ${values.add(after)}`]),
    ...(until === undefined ? [] : [`${column} <= ${values.add(until)}`]),
  ]
}
