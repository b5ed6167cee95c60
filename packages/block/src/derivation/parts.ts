import { CborReader, equalBytes, isDecodeError } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransactionBody,
  type OutputReference,
  type Transaction,
  type TransactionBody,
} from '@ratatosk/ledger'

/** The changes of a transaction to the outputs. */
export interface MovedParts {
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  /** CBOR of each output. */
  readonly outputs: readonly Uint8Array[]
  /** Lovelace. */
  readonly fee: bigint
}

/** The parts of a block's transaction that the derivation reads. */
export interface TransactionParts extends MovedParts {
  /** The body as submitted; the whole bytes when they are no transaction. */
  readonly body: Uint8Array
  /** Blake2b-256 of `body`. */
  readonly id: Uint8Array
  /** The witness set as submitted; empty when the bytes are no transaction. */
  readonly witnessSet: Uint8Array
  /** The bytes after the witness set; empty when the bytes are no transaction. */
  readonly rest: Uint8Array
  /** Whether the ledger decodes the body. If not, the transaction has no inputs, outputs and fee. */
  readonly isDecoded: boolean
  /**
   * Whether the bytes are those that follow from the body and the witness set: `84 ‖ body ‖ witness set ‖
   * true ‖ auxiliary data`, the last as the body's hash of it says, `null` without one.
   */
  readonly isFramed: boolean
}

const definiteFour = 0x84
const isTrue = 0xf5
const isNull = 0xf6

/**
 * The block's body decides about sizes. Deeper bytes are no transaction, because a walk takes memory per
 * level. No proof is lost: such a body or witness set exceeds the 16,384 bytes that a proof shows.
 */
const limits = {
  maxDepth: 65_536,
  maxLength: Number.POSITIVE_INFINITY,
  maxItems: Number.POSITIVE_INFINITY,
}

const none = new Uint8Array()
const nothing = { inputs: [], referenceInputs: [], outputs: [], fee: 0n, isDecoded: false }

/**
 * Takes a transaction apart. Total: bytes that are no transaction are a body that does not decode, without a
 * witness set; so an invalid block has records too. A body or witness set that nests arrays, maps and tags
 * deeper than 65,536 levels makes no transaction.
 *
 * @param transaction its CBOR; or the decoded transaction, which saves decoding it again
 */
export function partsOf(transaction: Uint8Array | Transaction): TransactionParts {
  const cbor = transaction instanceof Uint8Array ? transaction : transaction.bytes
  if (cbor[0] !== definiteFour) return whole(cbor)
  if (!(transaction instanceof Uint8Array)) {
    const { id, body, witnesses } = transaction
    return parts(id, body, witnesses.bytes, cbor.subarray(1 + body.bytes.length + witnesses.bytes.length))
  }
  const reader = new CborReader(cbor, 1, cbor.length, limits)
  try {
    reader.skip()
    const bodyEnd = reader.position
    reader.skip()
    return partsOfFrames({
      body: cbor.subarray(1, bodyEnd),
      witnessSet: cbor.subarray(bodyEnd, reader.position),
      rest: cbor.subarray(reader.position),
    })
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return whole(cbor)
  }
}

/** The parts of a transaction that others have cut, perhaps elsewhere than its CBOR says. Total. */
export function partsOfFrames({
  body,
  witnessSet,
  rest,
}: Pick<TransactionParts, 'body' | 'witnessSet' | 'rest'>): TransactionParts {
  const id = blake2b256(body)
  const decoded = decodedBody(body)
  if (decoded !== undefined) return parts(id, decoded, witnessSet, rest)
  return { ...nothing, body, id, witnessSet, rest, isFramed: isFrame(rest, undefined) }
}

function whole(cbor: Uint8Array): TransactionParts {
  return { ...nothing, body: cbor, id: blake2b256(cbor), witnessSet: none, rest: none, isFramed: true }
}

function parts(
  id: Uint8Array,
  body: TransactionBody,
  witnessSet: Uint8Array,
  rest: Uint8Array,
): TransactionParts {
  return {
    body: body.bytes,
    id,
    witnessSet,
    rest,
    inputs: body.inputs,
    referenceInputs: body.referenceInputs,
    outputs: body.outputs.map(({ bytes }) => bytes),
    fee: body.fee,
    isDecoded: true,
    isFramed: isFrame(rest, body.auxiliaryDataHash),
  }
}

function isFrame(rest: Uint8Array, auxiliaryDataHash: Uint8Array | undefined): boolean {
  if (rest[0] !== isTrue) return false
  if (auxiliaryDataHash === undefined) return rest.length === 2 && rest[1] === isNull
  return equalBytes(blake2b256(rest.subarray(1)), auxiliaryDataHash)
}

function decodedBody(bytes: Uint8Array): TransactionBody | undefined {
  try {
    return decodeTransactionBody(bytes)
  } catch (error) {
    if (isDecodeError(error)) return undefined
    throw error
  }
}
