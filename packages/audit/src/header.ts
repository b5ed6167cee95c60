import { blake2b } from '@noble/hashes/blake2.js'
import { CborReader, equalBytes } from '@ratatosk/cbor'

/** The fields of a header. Roots have 32 bytes, hashes 28; times are POSIX milliseconds. */
export interface AuditedHeader {
  readonly prevUtxosRoot: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly transactionsRoot: Uint8Array
  readonly depositsRoot: Uint8Array
  readonly withdrawalsRoot: Uint8Array
  readonly startTime: bigint
  readonly endTime: bigint
  readonly prevHeaderHash: Uint8Array
  /** Hash of the operator's key. */
  readonly operatorVkey: Uint8Array
  readonly blockVersion: bigint
}

/** The block version whose rules this package knows. */
export const knownVersion = 4n

/** Constructor 0 of Plutus data. */
const constructor0 = 121
const fieldCount = 10

/** Reads the Plutus data of a header. @throws DecodeError */
export function readHeader(cbor: Uint8Array): AuditedHeader {
  const reader = new CborReader(cbor)
  const start = reader.position
  if (reader.readTag() !== constructor0)
    throw reader.error('CBOR_UNEXPECTED_TAG', 'another constructor than 0', start)
  const list = reader.position
  const count = reader.readArray()
  const header = {
    prevUtxosRoot: reader.readBytesOf(32),
    utxosRoot: reader.readBytesOf(32),
    transactionsRoot: reader.readBytesOf(32),
    depositsRoot: reader.readBytesOf(32),
    withdrawalsRoot: reader.readBytesOf(32),
    startTime: reader.readInteger(),
    endTime: reader.readInteger(),
    prevHeaderHash: reader.readBytesOf(28),
    operatorVkey: reader.readBytesOf(28),
  }
  const blockVersion = reader.readInteger()
  reader.leaveArray(count, fieldCount, list)
  reader.assertEnd()
  return { ...header, blockVersion }
}

/** Of transactions, witness sets, outputs and data: 32 bytes. */
export const blake2b256 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 32 })

/** Of headers: 28 bytes. */
export const blake2b224 = (bytes: Uint8Array): Uint8Array => blake2b(bytes, { dkLen: 28 })

const hashLength = 28

/** Header hashes, one after another: 28 bytes each. */
export function createHashes() {
  let bytes = new Uint8Array(1024 * hashLength)
  let count = 0
  const at = (index: number): Uint8Array => bytes.subarray(index * hashLength, (index + 1) * hashLength)
  return {
    get count() {
      return count
    },
    at,
    push(hash: Uint8Array): void {
      if ((count + 1) * hashLength > bytes.length) {
        const grown = new Uint8Array(bytes.length * 2)
        grown.set(bytes)
        bytes = grown
      }
      bytes.set(hash, count++ * hashLength)
    },
    pop(): void {
      count--
    },
    lastIndexOf(hash: Uint8Array): number {
      let index = count - 1
      while (index >= 0 && !equalBytes(at(index), hash)) index--
      return index
    },
  }
}
