// Signed 1-in/2-out transfers between many addresses. Each spends another output of a large ledger, in no
// order.
import { createHash } from 'node:crypto'
import { array, blake2b, bytes, makeKey, map, output, set, uint } from './transfers.mjs'

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
  const keys = Array.from({ length: addresses }, (_, n) => makeKey(blake2b(32, Buffer.from(`address ${n}`))))
  const step = stepThrough(outputs)
  const ids = []
  const signatures = []
  let all
  let size
  for (let n = 0; n < count; n++) {
    const place = (n * step) % outputs
    const { address, publicKey, sign } = keys[place % addresses]
    const payee = keys[(n * 7919 + 1) % addresses].address
    const body = map(
      [uint(0), set(array(bytes(sourceOf(place)), uint(0)))],
      [uint(1), array(output(payee, 4_000_000n), output(address, lovelaceEach - 4_000_000n - fee))],
      [uint(2), uint(fee)],
    )
    const message = blake2b(32, body)
    const signature = sign(message)
    const witnesses = map([uint(0), set(array(bytes(publicKey), bytes(signature)))])
    const transaction = array(body, witnesses, Buffer.from([0xf5]), Buffer.from([0xf6]))
    size ??= transaction.length
    all ??= Buffer.allocUnsafe(size * count)
    if (transaction.copy(all, n * size) !== size) throw new Error('transfers differ in size')
    ids.push(message.toString('hex', 0, 8))
    if (signatures.length < 20_000) signatures.push({ signature, message, publicKey })
  }
  return {
    count,
    /** The first 16 hex digits of each transfer's id. */
    ids,
    /** What a bare verification of some of them needs. */
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
        return {
          outref: `${sourceOf(place).toString('hex')}#0`,
          output: output(keys[place % addresses].address, lovelaceEach).toString('hex'),
        }
      }),
    /** All outputs of the ledger; each is the first of its transaction. */
    *ledger() {
      const owned = keys.map(({ address }) => output(address, lovelaceEach))
      for (let n = 0; n < outputs; n++) yield { transactionId: sourceOf(n), output: owned[n % addresses] }
    },
    /** Writes all outputs into a schema whose ledger has its genesis and nothing else. */
    async fill(client, schema) {
      const owned = output(keys[0].address, lovelaceEach)
        .toString('hex')
        .split(keys[0].address.toString('hex'))
      // Older checkouts have it.
      const { rowCount } = await client.query(
        `SELECT FROM pg_attribute WHERE attrelid = '"${schema}".mempool_ledger'::regclass AND attname = 'payment_credential'`,
      )
      const credential =
        rowCount === 0
          ? { name: '', value: '' }
          : { name: 'payment_credential, ', value: 'substr(a.address, 2), ' }
      await client.query(
        `INSERT INTO "${schema}".mempool_ledger (transaction_id, output_index, output, address, ${credential.name}sequence)
        SELECT ${sourceInSql('n')}, 0, $3::bytea || a.address || $4::bytea, a.address, ${credential.value}nextval('"${schema}".accept_sequence')
        FROM generate_series(0, $2::integer - 1) AS n
        JOIN unnest($1::bytea[]) WITH ORDINALITY AS a (address, place) ON a.place = n % ${addresses} + 1`,
        [keys.map(({ address }) => address), outputs, ...owned.map((part) => Buffer.from(part, 'hex'))],
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
