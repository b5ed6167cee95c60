import {
  bool,
  bytea,
  bytesColumn,
  int4,
  int8,
  nullable,
  parameterRows,
  type Sql,
  schema,
  sql,
  statement,
} from '@ratatosk/database'
import { decodeAddress } from '@ratatosk/ledger'
import { ownerOf } from './entries.js'
import { type Parameters, parametersOf, partOf } from './parameters.js'
import type { At, OutputPart, OutputQuery } from './types.js'

export const outputRow = {
  transactionId: bytea,
  index: int4,
  sequence: int8,
  output: bytea,
  collateralReturn: bool,
  spentBy: nullable(int8),
  spentIn: nullable(bytea),
  spentValid: nullable(bool),
}

export function outputsStatement(query: OutputQuery, part: OutputPart, at: At) {
  const values = parametersOf()
  const conditions = conditionsOf(query, values)
  const after = afterOf(part, values)
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
