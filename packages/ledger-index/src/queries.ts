import { decodeAddress, decodeNativeScript, type Script } from '@ratatosk/ledger'
import { column, rows } from './columns.js'
import { ownerOf } from './entries.js'
import type {
  At,
  IndexConnection,
  IndexDatabase,
  IndexedOutput,
  IndexedTransaction,
  IndexQueries,
  ListPart,
  OutputPart,
  OutputQuery,
  Parameter,
} from './types.js'

interface OutputRow {
  readonly transactionId: Uint8Array
  readonly index: number
  readonly sequence: bigint
  readonly output: Uint8Array
  readonly collateralReturn: boolean
  readonly spentBy: bigint | null
  readonly spentIn: Uint8Array | null
  readonly spentValid: boolean | null
}

/**
 * Without statistics, which a PGlite never has, the planner would read and sort more than the index that has
 * the order.
 */
const inIndexOrder = `SELECT ${['enable_bitmapscan', 'enable_seqscan', 'jit']
  .map((setting) => `set_config('${setting}', 'off', true)`)
  .join(', ')}`

/** Answers from the tables in `schema`, which is a quoted name. */
export function openQueries(database: IndexDatabase, schema: string): IndexQueries {
  function ordered<Row>(text: string, parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return database.transaction(async (connection: IndexConnection) => {
      await connection.query(inIndexOrder)
      return connection.query<Row>(text, parameters)
    })
  }

  return {
    async outputs(query, part, at = {}) {
      const { text, parameters } = outputsStatement(schema, query, part, at)
      return (await ordered<OutputRow>(text, parameters)).map(toOutput)
    },

    async transaction(id) {
      const [row] = await database.query<IndexedTransaction>(
        `SELECT sequence, transaction_id AS id, valid FROM ${schema}.transactions WHERE transaction_id = $1`,
        [id],
      )
      return row
    },

    async history(address, part, at = {}) {
      const values = parametersOf()
      const here = `o.owner = ${values.add(ownerOf(decodeAddress(address)))} AND o.address = ${values.add(address)}`
      const until = at.sequence === undefined ? undefined : values.add(at.sequence)
      const { direction, most, range } = partOf(part, values)
      const touched = (name: string) => `(
        SELECT DISTINCT o.${name} AS sequence FROM ${schema}.outputs AS o
        WHERE ${here} AND o.${name} > 0${until === undefined ? '' : ` AND o.${name} <= ${until}`}
        ORDER BY o.${name} ${direction} ${most}
      )`
      const found = await ordered<IndexedTransaction>(
        `SELECT t.sequence, t.transaction_id AS id, t.valid
        FROM (
          SELECT sequence FROM (${touched('sequence')} UNION ${touched('spent_by')}) AS touched
          ORDER BY sequence ${direction} ${range}
        ) AS page
        JOIN ${schema}.transactions AS t USING (sequence)
        ORDER BY sequence ${direction}`,
        values.all,
      )
      return [...found]
    },

    async knowsAddress(address, { sequence } = {}) {
      const [row] = await database.query<{ known: boolean }>(
        `SELECT EXISTS (
          SELECT FROM ${schema}.outputs WHERE owner = $1 AND address = $2${sequence === undefined ? '' : ' AND sequence <= $3'}
        ) AS known`,
        [ownerOf(decodeAddress(address)), address, ...(sequence === undefined ? [] : [sequence])],
      )
      return row?.known ?? false
    },

    async assets(policy, part, { sequence } = {}) {
      const values = parametersOf()
      const until = [
        `policy = ${values.add(policy)}`,
        ...(sequence === undefined ? [] : [`sequence <= ${values.add(sequence)}`]),
      ]
      const { direction, range } = partOf(part, values)
      const found = await database.query<{ name: Uint8Array; quantity: string }>(
        `SELECT name, sum(quantity)::text AS quantity FROM ${schema}.mints WHERE ${until.join(' AND ')}
        GROUP BY name ORDER BY min(sequence) ${direction}, name ${direction} ${range}`,
        values.all,
      )
      return found.map(({ name, quantity }) => ({ name, quantity: BigInt(quantity) }))
    },

    async asset(policy, name, { sequence } = {}) {
      // A genesis output comes from no transaction that the index has.
      const id = (which: string) => `COALESCE(
        (SELECT transaction_id FROM ${schema}.transactions AS t WHERE t.sequence = found.${which}),
        (SELECT transaction_id FROM ${schema}.outputs AS o WHERE o.sequence = found.${which} LIMIT 1)
      ) AS ${which}`
      const [row] = await database.query<{
        quantity: string
        mints: number
        first: Uint8Array
        last: Uint8Array
      }>(
        `SELECT quantity::text, mints, ${id('first')}, ${id('last')} FROM (
          SELECT sum(quantity) AS quantity, count(*)::integer AS mints, min(sequence) AS first, max(sequence) AS last
          FROM ${schema}.mints WHERE policy = $1 AND name = $2${sequence === undefined ? '' : ' AND sequence <= $3'}
        ) AS found WHERE mints > 0`,
        [policy, name, ...(sequence === undefined ? [] : [sequence])],
      )
      return row && { ...row, quantity: BigInt(row.quantity) }
    },

    async datum(hash) {
      const [row] = await database.query<{ bytes: Uint8Array }>(
        `SELECT bytes FROM ${schema}.preimages WHERE hash = $1 AND language IS NULL`,
        [hash],
      )
      return row?.bytes
    },

    async script(hash) {
      const [row] = await database.query<{ language: Script['language']; bytes: Uint8Array }>(
        `SELECT language, bytes FROM ${schema}.preimages WHERE hash = $1 AND language IS NOT NULL`,
        [hash],
      )
      if (row === undefined) return undefined
      const { language, bytes } = row
      return language === 'native' ? decodeNativeScript(bytes) : { language, hash, bytes }
    },
  }
}

/** The parameters of one statement, and how it refers to them. */
interface Parameters {
  readonly all: readonly Parameter[]
  /** @returns the parameter's name in SQL */
  add(value: Parameter): string
}

function parametersOf(): Parameters {
  const all: Parameter[] = []
  return {
    all,
    add(value) {
      all.push(value)
      const type = value instanceof Uint8Array ? 'bytea' : typeof value === 'string' ? 'text' : 'bigint'
      return `$${all.length}::${type}`
    },
  }
}

/**
 * `range` takes the part of a sorted list; `most` limits the sorted lists that such a list is merged from.
 */
function partOf({ offset, limit, order }: ListPart, values: Parameters) {
  const skip = values.add(BigInt(offset))
  const take = Number.isFinite(limit) ? values.add(BigInt(limit)) : undefined
  return {
    direction: order === 'newest-first' ? 'DESC' : 'ASC',
    most: take === undefined ? '' : `LIMIT ${skip} + ${take}`,
    range: take === undefined ? `OFFSET ${skip}` : `OFFSET ${skip} LIMIT ${take}`,
  }
}

function outputsStatement(schema: string, query: OutputQuery, part: OutputPart, at: At) {
  const values = parametersOf()
  const conditions = [...conditionsOf(query, values), ...afterOf(part, values)]
  const states = statesOf(query.spent, at, values)
  const { direction, most, range } = partOf(part, values)
  const order = (table: string) => `${table}.sequence ${direction}, ${table}.output_index ${direction}`

  const { policy, assetName } = query
  const held =
    policy === undefined
      ? undefined
      : [
          `x.policy = ${values.add(policy)}`,
          ...(assetName === undefined ? [] : [`x.name = ${values.add(assetName)}`]),
        ]
  const branch = (state: readonly string[]): string => {
    const [from, where] =
      held === undefined
        ? [`${schema}.outputs AS x`, [...state, ...conditions]]
        : [
            `(
              SELECT DISTINCT x.transaction_id, x.output_index FROM ${schema}.assets AS x
              WHERE ${[...held, ...state].join(' AND ')}
            ) AS holding JOIN ${schema}.outputs AS x USING (transaction_id, output_index)`,
            conditions,
          ]
    const filter = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`
    return `(SELECT x.* FROM ${from} ${filter} ORDER BY ${order('x')} ${most})`
  }
  const until = at.sequence === undefined ? '' : ` AND o.spent_by <= ${values.add(at.sequence)}`
  const text = `
    SELECT o.transaction_id AS "transactionId", o.output_index AS index, o.sequence, o.output,
      COALESCE(NOT producer.valid, false) AS "collateralReturn",
      spender.sequence AS "spentBy", spender.transaction_id AS "spentIn", spender.valid AS "spentValid"
    FROM (
      SELECT * FROM (${states.map(branch).join(' UNION ALL ')}) AS found ORDER BY ${order('found')} ${range}
    ) AS o
    LEFT JOIN ${schema}.transactions AS producer ON producer.sequence = o.sequence
    LEFT JOIN ${schema}.transactions AS spender ON spender.sequence = o.spent_by${until}
    ORDER BY ${order('o')}`
  return { text, parameters: values.all }
}

/** Conditions on the output alone. `x` is the table of outputs. */
function conditionsOf(query: OutputQuery, values: Parameters): string[] {
  const { address, paymentCredential, stakeCredential, references, transaction } = query
  const conditions: string[] = []
  if (address !== undefined) {
    conditions.push(`x.owner = ${values.add(ownerOf(decodeAddress(address)))}`)
    conditions.push(`x.address = ${values.add(address)}`)
  }
  if (paymentCredential !== undefined) conditions.push(`x.owner = ${values.add(paymentCredential)}`)
  if (stakeCredential !== undefined) conditions.push(`x.stake_credential = ${values.add(stakeCredential)}`)
  if (transaction !== undefined) conditions.push(`x.transaction_id = ${values.add(transaction)}`)
  if (references !== undefined) {
    const first = values.all.length + 1
    values.add(column(references.map(({ transactionId }) => transactionId)))
    values.add(column(references.map(({ index }) => index)))
    const given = rows({ transaction_id: 'bytea', output_index: 'integer' }, first)
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

/**
 * Conditions on when an output was produced and spent: lists of which at least one must hold, and no two can.
 */
function statesOf(spent: boolean | undefined, { sequence }: At, values: Parameters): string[][] {
  if (sequence === undefined) {
    if (spent === undefined) return [[]]
    return [[`x.spent_by IS ${spent ? 'NOT NULL' : 'NULL'}`]]
  }
  const at = values.add(sequence)
  const produced = `x.sequence <= ${at}`
  if (spent === undefined) return [[produced]]
  if (spent) return [[`x.spent_by <= ${at}`]]
  return [
    [produced, 'x.spent_by IS NULL'],
    [produced, `x.spent_by > ${at}`],
  ]
}

function toOutput({ spentBy, spentIn, spentValid, ...output }: OutputRow): IndexedOutput {
  if (spentBy === null || spentIn === null || spentValid === null) return output
  return { ...output, spent: { sequence: spentBy, id: spentIn, valid: spentValid } }
}
