import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { toHex } from '@ratatosk/cbor'
import {
  addressOf,
  blake2b,
  encodeInput,
  encodeList,
  encodeSet,
  encodeUint,
  keyOf,
  outputOf,
  signDraft,
  transfer,
} from '@ratatosk/fixtures'
import { decodeTransaction, effects, encodeOutputReference, parseProtocolParameters } from '@ratatosk/ledger'
import sodium from 'sodium-native'

const devnet = new URL('../../apps/node/parameters/preprod-11.json', import.meta.url)

/** The node's parameters on the devnet, with the document's fee constants. */
export const parameters = parseProtocolParameters(JSON.parse(readFileSync(devnet, 'utf8')))

// Payments among many addresses that keep the size of a ledger: alternately from one output to two and from
// two to one, picked at random. Amounts and signatures are invalid; benchmarks that validate use others.

const addresses = 100_000
const lovelace = 5_000_000n

/** Numbers below a limit that are the same in each run. */
function randomNumbers(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** @param {number} size unspent outputs at the start */
export function createPayments(size) {
  const random = randomNumbers(7)
  const owner = (i) => ({ address: addressOf(blake2b(28, Buffer.from(`address ${i % addresses}`))) })
  const signer = { publicKey: randomBytes(32), sign: () => randomBytes(64) }
  const sources = Array.from({ length: size }, (_, i) => ({
    id: blake2b(32, Buffer.from(`payment ${i}`)),
    index: 0,
  }))
  const unspent = [...sources]
  let made = 0

  function pick() {
    const place = random(unspent.length)
    const picked = unspent[place]
    const last = unspent.pop()
    if (place < unspent.length) unspent[place] = last
    return picked
  }

  function pay() {
    const [inputs, outputs] = made++ % 2 === 0 ? [1, 2] : [2, 1]
    const spent = Array.from({ length: inputs }, pick)
    const paid = Array.from({ length: outputs }, () => outputOf(owner(random(addresses)), lovelace))
    const body = new Map([
      [0, encodeSet(spent.map(({ id, index }) => encodeInput(id, index)))],
      [1, encodeList(paid)],
      [2, encodeUint(fee)],
    ])
    const { id, cbor } = signDraft({ body, witnesses: new Map(), signers: [signer], isValid: true })
    for (let index = 0; index < outputs; index++) unspent.push({ id, index })
    return Buffer.from(cbor)
  }

  return {
    /** In the shape of the node's GENESIS_FILE. */
    genesis: () => sources.map(({ id, index }, i) => genesisOutput(id, outputOf(owner(i), lovelace), index)),
    next: (count) => Array.from({ length: count }, pay),
  }
}

// Signed transfers with one input and two outputs. Each spends a genesis output of its own.

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

/** Bytes of a length that differ by a number. */
export function numbered(length, n) {
  const bytes = Buffer.alloc(length)
  bytes.writeUInt32BE(n)
  return bytes
}

// Bare Blake2b-256 of what has to be hashed for the roots of a block, whatever the trie: the transactions'
// bodies and, as keys and values, their inputs, outputs, hashes and bytes.

export function messagesOf(block) {
  return block.flatMap((cbor) => {
    const transaction = decodeTransaction(cbor)
    const { spent, produced } = effects(transaction)
    return [
      transaction.body.bytes,
      transaction.id,
      cbor,
      ...spent.map(encodeOutputReference),
      ...produced.flatMap(({ reference, output }) => [encodeOutputReference(reference), output.bytes]),
    ]
  })
}

export function hashAll(messages) {
  const hash = Buffer.alloc(32)
  for (const message of messages) sodium.crypto_generichash(hash, message)
}
