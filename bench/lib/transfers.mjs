// Signed transfers with one input and two outputs. Each spends a genesis output of its own.
import { toHex } from '@ratatosk/cbor'
import { blake2b, keyOf, outputOf, transfer } from '@ratatosk/fixtures'
import sodium from 'sodium-native'

const lovelaceEach = 10_000_000n
const fee = 200_000n

/** An output of the shape of the node's GENESIS_FILE. */
export const genesisOutput = (transactionId, output, index = 0) => ({
  outref: `${toHex(transactionId)}#${index}`,
  output: toHex(output),
})

/** The inputs of a bare verification for one signer: the signature ends two bytes before the end. */
export const signatureOf = ({ id, cbor }, { publicKey }) => ({
  signature: Buffer.from(cbor.subarray(-66, -2)),
  message: Buffer.from(id),
  publicKey: Buffer.from(publicKey),
})

/**
 * @param {number} count
 * @returns {{ genesis: { outref: string, output: string }[], transactions: Buffer[], signatures: { signature:
 *   Buffer, message: Buffer, publicKey: Buffer }[] }}
 * the genesis in the shape of the node's GENESIS_FILE, the transactions, and what a bare verification of them
 * needs
 */
export function makeTransfers(count) {
  const key = keyOf(7)
  const sources = Array.from({ length: count }, (_, n) => blake2b(32, Buffer.from(`bench ${n}`)))
  const transfers = sources.map((transactionId) =>
    transfer(key, [{ transactionId, index: 0 }], [4_000_000n, lovelaceEach - 4_000_000n - fee], { fee }),
  )
  return {
    genesis: sources.map((source) => genesisOutput(source, outputOf(key, lovelaceEach))),
    transactions: transfers.map(({ cbor }) => Buffer.from(cbor)),
    signatures: transfers.map((each) => signatureOf(each, key)),
  }
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
