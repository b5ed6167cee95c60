// Signed 1-in/2-out transfers, each spending a genesis output of its own, encoded here by hand so that what
// is measured does not also make its input.
import sodium from 'sodium-native'

const lovelaceEach = 10_000_000n
const fee = 200_000n

function head(major, value) {
  const n = BigInt(value)
  if (n < 24n) return Buffer.from([(major << 5) | Number(n)])
  const width = n < 0x100n ? 1 : n < 0x10000n ? 2 : n < 0x100000000n ? 4 : 8
  const bytes = Buffer.alloc(1 + width)
  bytes[0] = (major << 5) | (24 + Math.log2(width))
  if (width === 8) bytes.writeBigUInt64BE(n, 1)
  else bytes.writeUIntBE(Number(n), 1, width)
  return bytes
}

export const uint = (value) => head(0, value)
export const bytes = (value) => Buffer.concat([head(2, value.length), value])
export const array = (...items) => Buffer.concat([head(4, items.length), ...items])
export const map = (...entries) => Buffer.concat([head(5, entries.length), ...entries.flat()])
export const set = (...items) => Buffer.concat([head(6, 258), array(...items)])
export const output = (address, lovelace) => map([uint(0), bytes(address)], [uint(1), uint(lovelace)])

export function blake2b(length, message) {
  const hash = Buffer.alloc(length)
  sodium.crypto_generichash(hash, message)
  return hash
}

/** A key with its CIP-19 enterprise address on a test network; by default the one that owns every output. */
export function makeKey(seed = Buffer.alloc(32, 7)) {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES)
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES)
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed)
  return {
    publicKey,
    address: Buffer.concat([Buffer.from([0x60]), blake2b(28, publicKey)]),
    sign(message) {
      const signature = Buffer.alloc(sodium.crypto_sign_BYTES)
      sodium.crypto_sign_detached(signature, message, secretKey)
      return signature
    },
  }
}

/**
 * @param {number} count
 * @returns {{ genesis: { outref: string, output: string }[], transactions: Buffer[], signatures: { signature:
 *   Buffer, message: Buffer, publicKey: Buffer }[] }}
 * the genesis in the shape of the node's GENESIS_FILE, the transactions, and what a bare verification of them
 * needs
 */
export function makeTransfers(count) {
  const { publicKey, address, sign } = makeKey()
  const genesis = []
  const transactions = []
  const signatures = []
  for (let i = 0; i < count; i++) {
    const source = blake2b(32, Buffer.from(`bench ${i}`))
    genesis.push({
      outref: `${source.toString('hex')}#0`,
      output: output(address, lovelaceEach).toString('hex'),
    })
    const body = map(
      [uint(0), set(array(bytes(source), uint(0)))],
      [uint(1), array(output(address, 4_000_000n), output(address, lovelaceEach - 4_000_000n - fee))],
      [uint(2), uint(fee)],
    )
    const message = blake2b(32, body)
    const signature = sign(message)
    const witnesses = map([uint(0), set(array(bytes(publicKey), bytes(signature)))])
    transactions.push(array(body, witnesses, Buffer.from([0xf5]), Buffer.from([0xf6])))
    signatures.push({ signature, message, publicKey })
  }
  return { genesis, transactions, signatures }
}

/** Bare libsodium verifications a second on this core: the ceiling of whatever checks signatures. */
export function bareVerifications(signatures) {
  const started = process.hrtime.bigint()
  let valid = 0
  for (const { signature, message, publicKey } of signatures) {
    if (sodium.crypto_sign_verify_detached(signature, message, publicKey)) valid++
  }
  if (valid !== signatures.length) throw new Error('a signature of the benchmark does not verify')
  return (signatures.length * 1e9) / Number(process.hrtime.bigint() - started)
}
