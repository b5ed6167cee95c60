import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { toHex } from '@ratatosk/cbor'
import {
  blake2b,
  encodeInput,
  encodeList,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  signDraft,
} from '@ratatosk/fixtures'
import { genesisOutput, signatureOf } from './transfers.mjs'

// Signed transfers with one input and two outputs between many addresses. Each spends another output of a
// large ledger, in no order.

const lovelaceEach = 10_000_000n
const fee = 200_000n

/** The id that output n of the ledger has; SQL makes the same. */
const sourceOf = (n) => createHash('sha256').update(`bench ${n}`).digest()
const sourceInSql = (n) => `sha256(convert_to('bench ' || ${n}, 'UTF8'))`

/**
 * @param {object} options
 * @param {number} options.count transfers, at most as many as outputs
 * @param {number} options.outputs of the ledger
 * @param {number} options.addresses that they belong to, in turn
 */
export function makeSpread({ count, outputs, addresses }) {
  const keys = Array.from({ length: addresses }, (_, n) => keyOf(blake2b(32, Buffer.from(`address ${n}`))))
  const step = stepThrough(outputs)
  const ids = []
  const signatures = []
  let all
  let size
  for (let n = 0; n < count; n++) {
    const place = (n * step) % outputs
    const key = keys[place % addresses]
    const payee = keys[(n * 7919 + 1) % addresses]
    const change = lovelaceEach - 4_000_000n - fee
    const body = new Map([
      [0, encodeSet([encodeInput(sourceOf(place), 0)])],
      [1, encodeList([outputOf(payee, 4_000_000n), outputOf(key, change)])],
      [2, encodeUint(fee)],
    ])
    const signed = signDraft({ body, witnesses: new Map(), signers: [key], isValid: true })
    const transaction = Buffer.from(signed.cbor)
    size ??= transaction.length
    all ??= Buffer.allocUnsafe(size * count)
    if (transaction.copy(all, n * size) !== size) throw new Error('transfers differ in size')
    ids.push(toHex(signed.id.subarray(0, 8)))
    if (signatures.length < 20_000) signatures.push(signatureOf(signed, key))
  }
  return {
    count,
    /** The first 16 hex digits of each transfer's id. */
    ids,
    /** The inputs of a bare verification of some of them. */
    signatures,
    /** Transfers from one on, as the load takes them. */
    from: (first) => ({
      length: count - first,
      at: (n) => all.subarray((first + n) * size, (first + n + 1) * size),
    }),
    /** Those outputs that the first transfers spend, in the shape of the node's GENESIS_FILE. */
    genesis: (transfers) =>
      Array.from({ length: Math.min(transfers, count) }, (_, n) => {
        const place = (n * step) % outputs
        return genesisOutput(sourceOf(place), outputOf(keys[place % addresses], lovelaceEach))
      }),
    /** All outputs of the ledger; each is the first of its transaction. */
    *ledger() {
      const owned = keys.map((key) => outputOf(key, lovelaceEach))
      for (let n = 0; n < outputs; n++) yield { transactionId: sourceOf(n), output: owned[n % addresses] }
    },
    /** Writes all outputs into a schema whose ledger has its genesis and nothing else. */
    async fill(client, schema) {
      const owned = toHex(outputOf(keys[0], lovelaceEach)).split(toHex(keys[0].address))
      // Older checkouts have it.
      const { rowCount } = await client.query(
        `SELECT FROM pg_attribute
        WHERE attrelid = '"${schema}".mempool_ledger'::regclass AND attname = 'payment_credential'`,
      )
      const credential =
        rowCount === 0
          ? { name: '', value: '' }
          : { name: 'payment_credential, ', value: 'substr(a.address, 2), ' }
      await client.query(
        `INSERT INTO "${schema}".mempool_ledger
          (transaction_id, output_index, output, address, ${credential.name}sequence)
        SELECT ${sourceInSql('n')}, 0, $3::bytea || a.address || $4::bytea, a.address,
          ${credential.value}nextval('"${schema}".accept_sequence')
        FROM generate_series(0, $2::integer - 1) AS n
        JOIN unnest($1::bytea[]) WITH ORDINALITY AS a (address, place) ON a.place = n % ${addresses} + 1`,
        [
          keys.map(({ address }) => Buffer.from(address)),
          outputs,
          ...owned.map((part) => Buffer.from(part, 'hex')),
        ],
      )
      await client.query(`VACUUM ANALYZE "${schema}".mempool_ledger`)
    },
  }
}

/** A step that leads through all places before it comes to one again, and to neighbours late. */
function stepThrough(places) {
  let step = Math.max(1, Math.floor(places * 0.618))
  while (greatestDivisor(step, places) > 1) step++
  return step
}

function greatestDivisor(a, b) {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** The value below which a share of them lies, such as 0.95. */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

export async function millisecondsOf(work) {
  const started = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** Microseconds of processor time of this process, since `process.cpuUsage()` gave `before`. */
export function processorMicros(before) {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export const round = (value) => Math.round(value).toLocaleString('en')

// Figures for docs/performance.md, which `npm run generate` writes: a file for each measurement, in
// the folder that BENCH_JSON names.

/** Writes figures with the machine and its load, replacing older ones; nothing without BENCH_JSON. */
export function record(name, figures) {
  const folder = process.env.BENCH_JSON
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  const machine = {
    measured: new Date().toISOString().slice(0, 10),
    processor: cpus()[0].model,
    cores: availableParallelism(),
    node: process.version,
    load: Number(loadavg()[0].toFixed(1)),
  }
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify({ machine, ...figures }, undefined, 2)}\n`)
}
