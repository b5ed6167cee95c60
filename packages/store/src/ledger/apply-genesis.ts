import { createHash } from 'node:crypto'
import { inTurns, isStep, type Steps, sorting } from '@ratatosk/block'
import {
  bool,
  bytea,
  bytesColumn,
  type Connection,
  nullable,
  parameterRows,
  schema,
  sql,
  statement,
  toHex,
} from '@ratatosk/database'
import { StoreError } from '../errors.js'
import type { LedgerEntry } from './ledger.js'

/** Outputs that one statement inserts. */
const step = 5_000

const ledgerState = statement(
  { applied: nullable(bytea), used: bool },
  sql`SELECT (SELECT digest FROM ${schema}.genesis) AS applied,
    EXISTS (SELECT FROM ${schema}.mempool_ledger)
      OR EXISTS (SELECT FROM ${schema}.mempool_transactions)
      OR EXISTS (SELECT FROM ${schema}.blocks) AS used`,
)

const columns = {
  transaction_id: 'bytea',
  output_index: 'integer',
  output: 'bytea',
  address: 'bytea',
} as const

// Each output gets its own sequence, so that an address lists them in the given order.
const insert = sql`
  INSERT INTO ${schema}.mempool_ledger (transaction_id, output_index, output, address, sequence)
  SELECT transaction_id, output_index, output, address, nextval('${schema}.accept_sequence')
  FROM (SELECT * FROM ${parameterRows(columns)} AS o ORDER BY position) AS ordered`

/** Puts the first outputs into an empty ledger, under the ledger's lock; see `Store.applyGenesis`. */
export async function applyGenesis(
  connection: Connection,
  outputs: readonly LedgerEntry[],
): Promise<boolean> {
  const digest = await digestOf(outputs)
  const [state] = await connection.query(ledgerState)
  const applied = state?.applied ?? undefined
  if (applied !== undefined) {
    if (digest.equals(applied)) return false
    throw new StoreError('STORE_GENESIS_MISMATCH', 'The ledger was started with other genesis outputs')
  }
  if (state?.used === true) {
    throw new StoreError(
      'STORE_GENESIS_MISMATCH',
      'The ledger is in use and was started without genesis outputs',
    )
  }

  for (let start = 0; start < outputs.length; start += step) {
    const part = outputs.slice(start, start + step)
    await connection.execute(insert, [
      bytesColumn(part.map(({ reference }) => reference.transactionId)),
      part.map(({ reference }) => reference.index),
      bytesColumn(part.map(({ output }) => output)),
      bytesColumn(part.map(({ address }) => address)),
    ])
  }
  await connection.execute(sql`INSERT INTO ${schema}.genesis (digest, outputs) VALUES ($1, $2)`, [
    digest,
    outputs.length,
  ])
  return true
}

/** The digests of what was given: those of a million outputs take seconds, and a node asks more than once. */
const digests = new WeakMap<readonly LedgerEntry[], Buffer>()

/** SHA-256 of the outputs in any order. Existing digests include the payment credential in each line. */
async function digestOf(outputs: readonly LedgerEntry[]): Promise<Buffer> {
  const known = digests.get(outputs)
  if (known !== undefined) return known
  const digest = await inTurns(digesting(outputs))
  digests.set(outputs, digest)
  return digest
}

function* digesting(outputs: readonly LedgerEntry[]): Steps<Buffer> {
  const lines: string[] = []
  for (const [place, { reference, output, address }] of outputs.entries()) {
    lines.push(
      [
        toHex(reference.transactionId),
        reference.index,
        toHex(output),
        toHex(address),
        toHex(paymentCredentialOf(address)),
      ].join(),
    )
    if (isStep(place)) yield
  }
  const line = (place: number): string => lines[place] as string
  const places = Uint32Array.from(lines.keys())
  const sorted = yield* sorting(places, (a, b) => (line(a) < line(b) ? -1 : Number(line(a) > line(b))))
  const hash = createHash('sha256')
  for (const [nth, place] of sorted.entries()) {
    hash.update(nth === 0 ? line(place) : `\n${line(place)}`)
    if (isStep(nth)) yield
  }
  return hash.digest()
}

/** Of a Shelley address (CIP-19); Byron addresses have none. */
function paymentCredentialOf(address: Uint8Array): Uint8Array {
  return (address[0] ?? 0) < 0x80 ? address.subarray(1, 29) : new Uint8Array()
}
