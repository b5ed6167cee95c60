import type { ProofStep } from '../api.js'
import { ClientError } from '../errors.js'

/** The checked fields of a node's answer. */
export interface NodeProof {
  readonly header?: string
  readonly value?: string
  readonly proof: { readonly json: readonly ProofStep[] }
}

/** The root, or the block that has it, as the caller knows it from the state queue on layer 1. */
export type Trusted =
  /** Header hash of a block of the state queue, or of the confirmed state: 56 hex digits. */
  | { readonly headerHash: string }
  /** Root itself, 64 hex digits: `utxo_root` of the confirmed state before the first block. */
  | { readonly root: string }

/** The proof does not prove it: the node is wrong, or speaks of another block. `CLIENT_PROOF_INVALID`. */
export class InvalidProofError extends ClientError {
  constructor(what: string, options?: ErrorOptions) {
    super('CLIENT_PROOF_INVALID', `The proof is not valid: ${what}. Do not rely on this answer`, options)
  }
}

/** Places of roots in a header. */
const utxosRoot = 1

const transactionsRoot = 2

/**
 * Verifies an answer of `GET /proofs/utxo` without trusting the node.
 *
 * @param expected `outref` is `<tx_hash>#<index>`, or CBOR in hex as `listUtxos` answers it
 * @returns CBOR of the output in hex; undefined if the proof shows that it is not unspent
 * @throws {InvalidProofError} if it proves neither
 * @throws TypeError if the caller's own values are malformed
 * @example
 * ```ts
 * const proof = await client.proveUtxo({ outref, header_hash: headerHash })
 * const output = verifyUtxoProof(proof, { outref, headerHash })
 * ```
 */
export function verifyUtxoProof(
  proof: NodeProof,
  expected: { readonly outref: string } & Trusted,
): string | undefined {
  checkGiven(proof, expected)
  verify(proof, expected, utxosRoot, keyOf(expected.outref), proof.value)
  return proof.value
}

/**
 * Verifies an answer of `GET /proofs/transaction` without trusting the node.
 *
 * @returns whether the block applied the transaction, and if so, at which position from 0
 * @throws {InvalidProofError} if it proves neither
 * @throws TypeError if the caller's own values are malformed
 */
export function verifyTransactionProof(
  proof: NodeProof & { readonly position?: number },
  expected: { readonly txHash: string; readonly headerHash: string },
): { readonly isApplied: true; readonly position: number } | { readonly isApplied: false } {
  checkGiven(proof, expected)
  const txHash = givenHash('txHash', expected.txHash, 64)
  const { value, position } = proof
  if (value === undefined) {
    // A block records every output of its transactions, and every transaction has an output 0.
    verify(proof, expected, transactionsRoot, outrefKey(txHash, 0), undefined)
    return { isApplied: false }
  }
  if (position === undefined || !Number.isSafeInteger(position) || position < 0)
    throw new InvalidProofError('it has no position')
  // The record of a transaction: one byte for its kind, then its hash.
  if (value.length !== 226 || !value.startsWith('02') || value.slice(2, 66) !== txHash)
    throw new InvalidProofError('it is of another transaction')
  verify(proof, expected, transactionsRoot, position.toString(16).padStart(16, '0'), value)
  return { isApplied: true, position }
}

/** Blake2b-224 of a header, in hex: the header hash. @throws TypeError if it is not hex */
export function headerHashOf(header: string): string {
  return toHex(blake2b(fromHex(header), 28))
}

/** @throws TypeError */
function checkGiven(proof: unknown, expected: unknown): void {
  const given = { 'the proof, an answer of the node,': proof, 'the expected values': expected }
  for (const [name, value] of Object.entries(given))
    if (typeof value !== 'object' || value === null) throw new TypeError(`${name} must be an object`)
}

function verify(
  { header, proof }: NodeProof,
  trusted: Trusted,
  place: number,
  key: string,
  value: string | undefined,
): void {
  const root = trustedRoot(header, trusted, place)
  let found: string
  try {
    found = rootOf(key, value, proof.json)
  } catch (cause) {
    // Anything else than these is no fault of the proof, except where it lacks a field.
    if (cause instanceof MalformedProof || cause instanceof TypeError)
      throw new InvalidProofError(cause.message, { cause })
    throw cause
  }
  if (found !== root) throw new InvalidProofError('it leads to another root')
}

/** Plutus data of a header: constructor 0, an indefinite list that begins with five roots of 32 bytes. */
const headerStart = /^d8799f(?:5820([0-9a-f]{64}))(?:5820([0-9a-f]{64}))(?:5820([0-9a-f]{64}))/

function trustedRoot(header: string | undefined, trusted: Trusted, place: number): string {
  if ('root' in trusted) return givenHash('root', trusted.root, 64)
  const headerHash = givenHash('headerHash', trusted.headerHash, 56)
  if (header === undefined || !/^([0-9a-f]{2})*$/.test(header))
    throw new InvalidProofError('it has no header')
  if (headerHashOf(header) !== headerHash) throw new InvalidProofError('its header is that of another block')
  const root = headerStart.exec(header)?.[place + 1]
  if (root === undefined) throw new InvalidProofError('its header has another format')
  return root
}

/** A hash of the caller, in lower case. @throws TypeError */
function givenHash(name: string, hash: string, length: number): string {
  if (typeof hash === 'string' && hash.length === length && /^[0-9a-f]*$/i.test(hash))
    return hash.toLowerCase()
  throw new TypeError(`${name} must be ${length} hex digits`)
}

/** The key of an output reference of the caller, in either form. @throws TypeError */
function keyOf(outref: string): string {
  const [, txHash, number] = /^([0-9a-f]{64})#(0|[1-9][0-9]{0,4})$/i.exec(outref) ?? []
  if (txHash !== undefined && Number(number) <= 0xffff) return outrefKey(txHash.toLowerCase(), Number(number))
  const [, hash, ...index] =
    /^825820([0-9a-f]{64})(?:(0[0-9a-f]|1[0-7])|18([0-9a-f]{2})|19([0-9a-f]{4}))$/i.exec(outref) ?? []
  if (hash === undefined) throw new TypeError('outref must be <tx_hash>#<index>, or its CBOR in hex')
  return outrefKey(hash.toLowerCase(), Number.parseInt(index.join(''), 16))
}

/** CBOR of an output reference in hex: `[bytes, uint]`, in the shortest form. */
function outrefKey(txHash: string, index: number): string {
  const [head, width] = index < 24 ? ['', 2] : index < 256 ? ['18', 2] : ['19', 4]
  return `825820${txHash}${head}${index.toString(16).padStart(width, '0')}`
}

/*
 * Merkle Patricia Forestry (https://github.com/aiken-lang/merkle-patricia-forestry). Everything is hex: a
 * path is the 64 digits of the Blake2b-256 of a key, so that a digit is a nibble.
 */

const pathLength = 64

const nothing = '00'.repeat(32)

/** The proof claims what no map can have. */
class MalformedProof extends Error {}

/** A step with its place: its prefix is the digits `depth` to `fork`, its children differ in digit `fork`. */
interface Placed {
  readonly step: ProofStep
  readonly depth: number
  readonly fork: number
}

/** The root of the map with the key's value (or absence), by the proof; in hex. Throws MalformedProof. */
export function rootOf(key: string, value: string | undefined, proof: readonly ProofStep[]): string {
  const path = hash(key)
  let next = 0
  const steps = proof.map((step): Placed => {
    const depth = next
    const fork = depth + step.skip
    check(Number.isInteger(step.skip) && step.skip >= 0 && fork < pathLength, 'a skip exceeds the path')
    next = fork + 1
    return { step, depth, fork }
  })
  let node = value === undefined ? nothing : leaf(path.slice(next), hash(value))
  const last = steps.at(-1)
  if (value === undefined && last !== undefined && last.step.type !== 'branch') {
    // Without the key, the neighbour is the only child and takes the place of the branch.
    node = neighborOf(last, path, last.depth).hash
    steps.pop()
  }
  for (const placed of steps.reverse()) {
    const { depth, fork, step } = placed
    const at = Number.parseInt(path.charAt(fork), 16)
    const merkle =
      step.type === 'branch'
        ? above(node, at, step.neighbors)
        : overTwo(node, at, neighborOf(placed, path, fork + 1))
    node = branch(path.slice(depth, fork), merkle)
  }
  return node
}

/** The other child of a step: its nibble, and its hash if its prefix or path starts at digit `from`. */
function neighborOf({ step, fork }: Placed, path: string, from: number): { at: number; hash: string } {
  const { neighbor = {} } = step
  if (step.type === 'leaf') {
    const key = digits(neighbor.key, pathLength)
    // Otherwise the proof could put the leaf of another place here.
    check(
      key.slice(0, fork) === path.slice(0, fork) && key[fork] !== path[fork],
      'a leaf is not beside the path',
    )
    return {
      at: Number.parseInt(key.charAt(fork), 16),
      hash: leaf(key.slice(from), digits(neighbor.value, 64)),
    }
  }
  check(step.type === 'fork', 'a step is not a branch, a fork or a leaf')
  const { nibble = -1, prefix = '' } = neighbor
  check(Number.isInteger(nibble) && nibble >= 0 && nibble < 16, 'a nibble is not from 0 to 15')
  check(/^(0[0-9a-f])*$/.test(prefix), 'a prefix is not of nibbles')
  check(nibble !== Number.parseInt(path.charAt(fork), 16), 'a fork is not beside the path')
  check(fork + 1 + prefix.length / 2 < pathLength, 'a prefix exceeds the path')
  const whole = path.slice(0, fork) + nibble.toString(16) + prefix.replace(/0(.)/g, '$1')
  return { at: nibble, hash: branch(whole.slice(from), digits(neighbor.root, 64)) }
}

/** The remaining path has a digit of its own in front if their number is odd. */
function leaf(path: string, valueHash: string): string {
  return hash((path.length % 2 === 0 ? 'ff' : '000') + path + valueHash)
}

function branch(prefix: string, merkle: string): string {
  return hash(prefix.replace(/./g, '0$&') + merkle)
}

/** The Merkle root of sixteen children, from one of them and its four siblings, the half of eight first. */
function above(child: string, at: number, neighbors: string | undefined): string {
  const siblings = digits(neighbors, 4 * 64)
  let node = child
  for (let level = 0; level < 4; level++) {
    const sibling = siblings.slice((3 - level) * 64, (4 - level) * 64)
    node = hash((at >> level) & 1 ? sibling + node : node + sibling)
  }
  return node
}

/** The Merkle root of sixteen children of which two are there. */
function overTwo(child: string, at: number, neighbor: { at: number; hash: string }): string {
  let level = Array.from({ length: 16 }, (_, i) =>
    i === at ? child : i === neighbor.at ? neighbor.hash : nothing,
  )
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) => hash(`${level[2 * i]}${level[2 * i + 1]}`))
  }
  return level[0] ?? nothing
}

function hash(hex: string): string {
  return toHex(blake2b(fromHex(hex), 32))
}

function digits(value: string | undefined, length: number): string {
  check(value?.length === length && /^[0-9a-f]*$/.test(value), `a part does not have ${length} hex digits`)
  return value as string
}

function check(condition: boolean, what: string): void {
  if (!condition) throw new MalformedProof(what)
}

/** @throws TypeError if the text is not whole bytes in hex */
function fromHex(hex: string): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new TypeError('Not hex: two digits for each byte')
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  )
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** RFC 7693, section 2.6. */
const iv = BigUint64Array.of(
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
)

/** Section 2.7: the order of a block's words by round, in hex digits. The last two repeat the first. */
const sigma = [
  '0123456789abcdef',
  'ea489fd61c02b753',
  'b8c052fdae367194',
  '7931dcbe265a40f8',
  '905724afe1bc683d',
  '2c6a0b834d75fe19',
  'c51fed4a0763928b',
  'db7ec13950f4862a',
  '6fe9b308c2d714a5',
  'a2847615fb9e3cd0',
].map((row) => Array.from(row, (digit) => Number.parseInt(digit, 16)))

/** The words that each of the eight mixings of a round takes. */
const mixings = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

const blockLength = 128

/** Blake2b without a key (RFC 7693), 1 to 64 bytes. Written for its size: a proof has a few dozen hashes. */
export function blake2b(input: Uint8Array, length: number): Uint8Array {
  const hash = iv.slice()
  hash[0] = word(hash, 0) ^ 0x01010000n ^ BigInt(length)
  const block = new Uint8Array(blockLength)
  const view = new DataView(block.buffer)
  const blocks = Math.max(1, Math.ceil(input.length / blockLength))
  for (let i = 0; i < blocks; i++) {
    const end = Math.min(input.length, (i + 1) * blockLength)
    block.fill(0).set(input.subarray(i * blockLength, end))
    const words = BigUint64Array.from({ length: 16 }, (_, j) => view.getBigUint64(j * 8, true))
    compress(hash, words, end, i === blocks - 1)
  }
  const digest = new DataView(new ArrayBuffer(64))
  hash.forEach((each, i) => {
    digest.setBigUint64(i * 8, each, true)
  })
  return new Uint8Array(digest.buffer, 0, length)
}

function compress(hash: BigUint64Array, words: BigUint64Array, count: number, isLast: boolean): void {
  const v = new BigUint64Array(16)
  v.set(hash)
  v.set(iv, 8)
  v[12] = word(v, 12) ^ BigInt(count)
  if (isLast) v[14] = ~word(v, 14)
  for (let round = 0; round < 12; round++) {
    const order = sigma[round % 10] as readonly number[]
    mixings.forEach(([a, b, c, d], i) => {
      // Each assignment takes the number modulo 2^64.
      v[a] = word(v, a) + word(v, b) + word(words, order[2 * i])
      v[d] = rotateRight(word(v, d) ^ word(v, a), 32n)
      v[c] = word(v, c) + word(v, d)
      v[b] = rotateRight(word(v, b) ^ word(v, c), 24n)
      v[a] = word(v, a) + word(v, b) + word(words, order[2 * i + 1])
      v[d] = rotateRight(word(v, d) ^ word(v, a), 16n)
      v[c] = word(v, c) + word(v, d)
      v[b] = rotateRight(word(v, b) ^ word(v, c), 63n)
    })
  }
  for (let i = 0; i < 8; i++) hash[i] = word(hash, i) ^ word(v, i) ^ word(v, i + 8)
}

function rotateRight(value: bigint, bits: bigint): bigint {
  return (value >> bits) | (value << (64n - bits))
}

function word(words: BigUint64Array, index: number | undefined): bigint {
  return words[index as number] as bigint
}
