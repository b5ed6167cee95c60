import { blake2b224 } from '@ratatosk/ledger'
import {
  bytesOf,
  constr,
  decodePlutusData,
  encodePlutusData,
  fieldsOf,
  integerOf,
  type PlutusData,
} from '@ratatosk/ledger/plutus-data'

/**
 * The header of a block, as the state queue stores it. Roots have 32 bytes, hashes 28; times are POSIX
 * milliseconds.
 */
export interface Header {
  /** Root of the unspent outputs before the block. */
  readonly prevUtxosRoot: Uint8Array
  /** Root of the unspent outputs after the block. */
  readonly utxosRoot: Uint8Array
  /** Root of the transactions map; see `deriveBlock`. */
  readonly transactionsRoot: Uint8Array
  /** Root of the outputs that come from deposits: output reference CBOR → output CBOR. */
  readonly depositsRoot: Uint8Array
  /** Root of the outputs that leave layer 2: output reference CBOR → output CBOR. */
  readonly withdrawalsRoot: Uint8Array
  /** The `endTime` of the previous block; inclusive. */
  readonly startTime: bigint
  /** The upper bound of the committing transaction's validity interval; exclusive. */
  readonly endTime: bigint
  /** The hash of the previous block's header. */
  readonly prevHeaderHash: Uint8Array
  /** Blake2b-224 of the operator's verification key. */
  readonly operatorVkey: Uint8Array
  /** From 0 to 2^32 − 1. Its name on layer 1 and in answers is `protocol_version`. */
  readonly blockVersion: bigint
}

/**
 * The version of the block format that this package reads and writes, `blockVersion` of every header: the
 * rules for bodies, roots and transactions. A deployment's contracts fix it.
 */
export const blockVersion = 4n

/** A header with its encoding and its hash, so that each is computed once. */
export interface EncodedHeader {
  readonly fields: Header
  /** Plutus data CBOR: the preimage of `hash`. */
  readonly bytes: Uint8Array
  /** 28 bytes. */
  readonly hash: Uint8Array
}

/** Position of each field in a header's Plutus data. Validators read the fields by these positions. */
export const headerFieldIndex = {
  prevUtxosRoot: 0,
  utxosRoot: 1,
  transactionsRoot: 2,
  depositsRoot: 3,
  withdrawalsRoot: 4,
  startTime: 5,
  endTime: 6,
  prevHeaderHash: 7,
  operatorVkey: 8,
  blockVersion: 9,
} as const satisfies { readonly [Field in keyof Header]: number }

/** The number of fields in a header. */
export const headerFieldCount = Object.keys(headerFieldIndex).length

/** Length in bytes of a Blake2b-224 hash: of a header, of a verification key. */
export const hashLength = 28

/** Length in bytes of a trie's root. */
export const rootLength = 32

/** The hash that precedes the first block's: 28 zero bytes. */
export const genesisHeaderHash = (): Uint8Array => new Uint8Array(hashLength)

/** Whether a header hash is the one that precedes the first block. */
export const isGenesisHeaderHash = (hash: Uint8Array): boolean => hash.every((byte) => byte === 0)

/** The header as Plutus data: constructor 0 with the ten fields. */
export const headerToData = (header: Header): PlutusData =>
  constr(
    0,
    header.prevUtxosRoot,
    header.utxosRoot,
    header.transactionsRoot,
    header.depositsRoot,
    header.withdrawalsRoot,
    header.startTime,
    header.endTime,
    header.prevHeaderHash,
    header.operatorVkey,
    header.blockVersion,
  )

/**
 * The reverse of {@link headerToData}.
 *
 * @throws {PlutusDataError} when the data has another constructor, another number of fields, or a field of
 *   another type or length
 */
export function headerFromData(data: PlutusData | undefined): Header {
  const fields = fieldsOf(data, 0, headerFieldCount, 'header')
  const bytes = (name: keyof typeof headerFieldIndex, length: number): Uint8Array =>
    bytesOf(fields[headerFieldIndex[name]], length, name)
  const integer = (name: keyof typeof headerFieldIndex): bigint =>
    integerOf(fields[headerFieldIndex[name]], name)
  return {
    prevUtxosRoot: bytes('prevUtxosRoot', rootLength),
    utxosRoot: bytes('utxosRoot', rootLength),
    transactionsRoot: bytes('transactionsRoot', rootLength),
    depositsRoot: bytes('depositsRoot', rootLength),
    withdrawalsRoot: bytes('withdrawalsRoot', rootLength),
    startTime: integer('startTime'),
    endTime: integer('endTime'),
    prevHeaderHash: bytes('prevHeaderHash', hashLength),
    operatorVkey: bytes('operatorVkey', hashLength),
    blockVersion: integer('blockVersion'),
  }
}

/** The header's Plutus data CBOR. */
export const encodeHeader = (header: Header): Uint8Array => encodePlutusData(headerToData(header))

/**
 * Reads a header's Plutus data CBOR.
 *
 * @throws {PlutusDataError} when the bytes do not decode as a header
 */
export const decodeHeader = (cbor: Uint8Array): Header => headerFromData(decodePlutusData(cbor))

/** Blake2b-224 of the header's Plutus data CBOR, as the validator computes it: 28 bytes. */
export const headerHash = (header: Header): Uint8Array => blake2b224(encodeHeader(header))

/** Encodes and hashes a header. */
export function encodedHeader(fields: Header): EncodedHeader {
  const bytes = encodeHeader(fields)
  return { fields, bytes, hash: blake2b224(bytes) }
}
