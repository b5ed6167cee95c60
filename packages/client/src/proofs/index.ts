import type { ProofStep } from '../api.js'
import { ClientError } from '../errors.js'
import { blake2b } from './blake2b.js'
import { fromHex, toHex } from './hex.js'
import { MalformedProof, rootOf } from './merkle.js'

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
 * @param expected `outref` is `<tx_hash>#<index>`
 * @returns CBOR of the output in hex; undefined if the proof shows that it is not unspent
 * @throws {InvalidProofError} if it proves neither
 * @throws RangeError if the caller's own values are malformed
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
  const [, hash = '', index] =
    /^([0-9a-f]{64})#(0|[1-9][0-9]{0,4})$/.exec(expected.outref.toLowerCase()) ?? []
  if (hash === '' || Number(index) > 0xffff) throw new RangeError('outref must be <tx_hash>#<index>')
  verify(proof, expected, utxosRoot, outrefKey(hash, Number(index)), proof.value)
  return proof.value
}

/**
 * Verifies an answer of `GET /proofs/transaction` without trusting the node.
 *
 * @returns whether the block applied the transaction, and if so, at which position from 0
 * @throws {InvalidProofError} if it proves neither
 * @throws RangeError if the caller's own values are malformed
 */
export function verifyTransactionProof(
  proof: NodeProof & { readonly position?: number },
  expected: { readonly txHash: string; readonly headerHash: string },
): { readonly isApplied: true; readonly position: number } | { readonly isApplied: false } {
  const txHash = expected.txHash.toLowerCase()
  if (!/^[0-9a-f]{64}$/.test(txHash)) throw new RangeError('txHash must be 64 hex digits')
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

/** Blake2b-224 of a header, in hex: the header hash. */
export function headerHashOf(header: string): string {
  return toHex(blake2b(fromHex(header), 28))
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
    if (cause instanceof MalformedProof || cause instanceof RangeError || cause instanceof TypeError)
      throw new InvalidProofError(cause.message, { cause })
    throw cause
  }
  if (found !== root) throw new InvalidProofError('it leads to another root')
}

/** Plutus data of a header: constructor 0, an indefinite list that begins with five roots of 32 bytes. */
const headerStart = /^d8799f(?:5820([0-9a-f]{64}))(?:5820([0-9a-f]{64}))(?:5820([0-9a-f]{64}))/

function trustedRoot(header: string | undefined, trusted: Trusted, place: number): string {
  if ('root' in trusted) {
    if (!/^[0-9a-f]{64}$/i.test(trusted.root)) throw new RangeError('root must be 64 hex digits')
    return trusted.root.toLowerCase()
  }
  if (!/^[0-9a-f]{56}$/i.test(trusted.headerHash)) throw new RangeError('headerHash must be 56 hex digits')
  if (header === undefined || !/^([0-9a-f]{2})*$/.test(header))
    throw new InvalidProofError('it has no header')
  if (headerHashOf(header) !== trusted.headerHash.toLowerCase())
    throw new InvalidProofError('its header is that of another block')
  const root = headerStart.exec(header)?.[place + 1]
  if (root === undefined) throw new InvalidProofError('its header has another format')
  return root
}

/** CBOR of an output reference in hex: `[bytes, uint]`, in the shortest form. */
function outrefKey(txHash: string, index: number): string {
  const [head, width] = index < 24 ? ['', 2] : index < 256 ? ['18', 2] : ['19', 4]
  return `825820${txHash}${head}${index.toString(16).padStart(width, '0')}`
}
