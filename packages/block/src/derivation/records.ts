/** The subject of a transaction record. The values are the first byte of its encoding. */
export const recordKind = { deposit: 0, withdrawalOrder: 1, transaction: 2 } as const

/** The kind of a {@link TransactionRecord}. */
export type RecordKind = keyof typeof recordKind

/**
 * The transaction that a block applied at one position: an entry of the transactions map under {@link
 * transactionKey}.
 */
export interface TransactionRecord {
  readonly kind: RecordKind
  /** Blake2b-256 of the transaction's body as submitted: its id. 32 bytes. */
  readonly id: Uint8Array
  /** Blake2b-256 of the witness set as submitted. 32 bytes. */
  readonly witnessSetHash: Uint8Array
  /**
   * Blake2b-256 of the concatenated hashes of the outputs that the inputs, then the reference inputs, stand
   * for; each list in the order of the body's CBOR. 32 bytes.
   */
  readonly resolved: Uint8Array
  /** Lovelace: fees up to this transaction in the block, modulo 2^64, which only an invalid block reaches. */
  readonly feesSoFar: bigint
  /** Length of the body in bytes, below 2^32. */
  readonly bodyLength: number
  /** Length of the witness set in bytes, below 2^32. */
  readonly witnessSetLength: number
}

/**
 * The fate of one output in a block: an entry of the transactions map under the output reference's CBOR.
 */
export interface OutputRecord {
  /** Position of the transaction that produces it; undefined when the output is older than the block. */
  readonly createdBy: number | undefined
  /**
   * Position of the first transaction that spends it; `'bridge'` when it left layer 2; undefined when it is
   * unspent after the block.
   */
  readonly spentBy: number | 'bridge' | undefined
  /** Blake2b-256 of the output's CBOR, 32 bytes; zeros when no such output was known. */
  readonly outputHash: Uint8Array
}

/** An entry of the transactions map for an output. */
export interface DerivedOutput extends OutputRecord {
  /** CBOR of its reference: the key. */
  readonly outref: Uint8Array
}

/** Length in bytes of an encoded {@link TransactionRecord}. No value of the map has 64 bytes. */
export const transactionRecordLength = 113

/** Where `resolved` begins in an encoded {@link TransactionRecord}. */
export const resolvedAt = 65

/** Length in bytes of an encoded {@link OutputRecord}. */
export const outputRecordLength = 48

/** The upper half of `spent` of an output that was paid to the bridge, 2^63. */
const leftThroughBridge = 0x8000_0000

/**
 * The key of a transaction record: the position, from 0, as 8 bytes big-endian. @param key where to write it
 */
export function transactionKey(position: number, key: Uint8Array = new Uint8Array(8)): Uint8Array {
  writePosition(key, 0, position)
  return key
}

/**
 * `kind 1 ‖ id 32 ‖ H(witness set) 32 ‖ resolved 32 ‖ fees so far 8 ‖ length of body 4 ‖ length of witness
 * set 4`.
 *
 * @param bytes where to write it; a new array without it
 */
export function encodeTransactionRecord(
  record: TransactionRecord,
  bytes: Uint8Array = new Uint8Array(transactionRecordLength),
): Uint8Array {
  bytes[0] = recordKind[record.kind]
  bytes.set(record.id, 1)
  bytes.set(record.witnessSetHash, 33)
  bytes.set(record.resolved, resolvedAt)
  writeNumber(bytes, 97, Number(record.feesSoFar >> 32n), Number(record.feesSoFar & 0xffff_ffffn))
  writeNumber(bytes, 105, record.bodyLength, record.witnessSetLength)
  return bytes
}

/**
 * The reverse of {@link encodeTransactionRecord}.
 *
 * @throws RangeError for another length or an unknown kind
 */
export function decodeTransactionRecord(bytes: Uint8Array): TransactionRecord {
  const kind = (Object.keys(recordKind) as RecordKind[]).find((name) => recordKind[name] === bytes[0])
  if (bytes.length !== transactionRecordLength || kind === undefined)
    throw new RangeError('Not a transaction record')
  return {
    kind,
    id: bytes.slice(1, 33),
    witnessSetHash: bytes.slice(33, 65),
    resolved: bytes.slice(resolvedAt, 97),
    feesSoFar: viewOf(bytes).getBigUint64(97),
    bodyLength: viewOf(bytes).getUint32(105),
    witnessSetLength: viewOf(bytes).getUint32(109),
  }
}

/**
 * `created 8 ‖ spent 8 ‖ H(output) 32`; the numbers are a position plus 1, or 0 for none.
 *
 * @param bytes where to write it; a new array without it
 */
export function encodeOutputRecord(
  { createdBy, spentBy, outputHash }: OutputRecord,
  bytes: Uint8Array = new Uint8Array(outputRecordLength),
): Uint8Array {
  writePosition(bytes, 0, createdBy === undefined ? 0 : createdBy + 1)
  if (spentBy === 'bridge') writeNumber(bytes, 8, leftThroughBridge, 0)
  else writePosition(bytes, 8, spentBy === undefined ? 0 : spentBy + 1)
  bytes.set(outputHash, 16)
  return bytes
}

/**
 * The reverse of {@link encodeOutputRecord}.
 *
 * @throws RangeError for another length, or a number that is neither a position nor that of the bridge
 */
export function decodeOutputRecord(bytes: Uint8Array): OutputRecord {
  if (bytes.length !== outputRecordLength) throw new RangeError('Not an output record')
  const created = viewOf(bytes).getBigUint64(0)
  const spent = viewOf(bytes).getBigUint64(8)
  return {
    createdBy: positionOf(created),
    spentBy: spent === 2n ** 63n ? 'bridge' : positionOf(spent),
    outputHash: bytes.slice(16),
  }
}

function positionOf(number: bigint): number | undefined {
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError('Not a position in a block')
  return number === 0n ? undefined : Number(number) - 1
}

/** Writes a number below 2^53 as 8 bytes big-endian. */
export function writePosition(bytes: Uint8Array, offset: number, position: number): void {
  writeNumber(bytes, offset, Math.floor(position / 2 ** 32), position)
}

/** Writes 8 bytes big-endian: the lower 32 bits of each half. */
function writeNumber(bytes: Uint8Array, offset: number, high: number, low: number): void {
  const lower = low % 2 ** 32
  for (let i = 0; i < 4; i++) {
    bytes[offset + i] = high >>> (24 - 8 * i)
    bytes[offset + 4 + i] = lower >>> (24 - 8 * i)
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)
