import { CborReader, equalBytes, isDecodeError } from '@ratatosk/cbor'
import {
  blake2b256,
  decodeTransactionBody,
  type OutputReference,
  type Transaction,
  type TransactionBody,
} from '@ratatosk/ledger'

/** What the derivation takes from the bytes of one transaction of a block. */
export interface TransactionParts {
  /** The body as submitted; the whole bytes when they are no transaction. */
  readonly body: Uint8Array
  /** Blake2b-256 of `body`. */
  readonly id: Uint8Array
  /** The witness set as submitted; empty when the bytes are no transaction. */
  readonly witnessSet: Uint8Array
  readonly inputs: readonly OutputReference[]
  readonly referenceInputs: readonly OutputReference[]
  /** CBOR of each output. */
  readonly outputs: readonly Uint8Array[]
  /** Lovelace. */
  readonly fee: bigint
  /** Whether the ledger decodes the body. If not, the transaction has no inputs, outputs and fee. */
  readonly isDecoded: boolean
  /**
   * Whether the bytes are those that follow from the body and the witness set: `84 ‖ body ‖ witness set ‖
   * true ‖ auxiliary data`, the last as the body's hash of it says, `null` without one. The header fixes
   * nothing else, so other bytes cannot be attributed to it.
   */
  readonly isFramed: boolean
}

const definiteFour = 0x84
const isTrue = 0xf5
const isNull = 0xf6

/** The body of the block decides about sizes; every well-formed item is walked. */
const noLimits = {
  maxDepth: Number.POSITIVE_INFINITY,
  maxLength: Number.POSITIVE_INFINITY,
  maxItems: Number.POSITIVE_INFINITY,
}

const nothing = { inputs: [], referenceInputs: [], outputs: [], fee: 0n, isDecoded: false }

/**
 * Takes a transaction apart. Total: bytes that are no transaction are a body that does not decode, without a
 * witness set; so an invalid block has records too.
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
  const reader = new CborReader(cbor, 1, cbor.length, noLimits)
  try {
    reader.skip()
    const bodyEnd = reader.position
    reader.skip()
    const bytes = cbor.subarray(1, bodyEnd)
    const witnessSet = cbor.subarray(bodyEnd, reader.position)
    const rest = cbor.subarray(reader.position)
    const body = decodedBody(bytes)
    if (body !== undefined) return parts(blake2b256(bytes), body, witnessSet, rest)
    return { ...nothing, body: bytes, id: blake2b256(bytes), witnessSet, isFramed: isFrame(rest, undefined) }
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return whole(cbor)
  }
}

function whole(cbor: Uint8Array): TransactionParts {
  return { ...nothing, body: cbor, id: blake2b256(cbor), witnessSet: new Uint8Array(), isFramed: true }
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
