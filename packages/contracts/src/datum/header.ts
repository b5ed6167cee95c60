import { blake2b224 } from '@ratatosk/ledger'
import { Header as Field, hashLength, rootLength } from '../layout.js'
import { bytesOf, fieldsOf, integerOf } from './fields.js'
import { constr, decodePlutusData, encodePlutusData, type PlutusData } from './plutus-data.js'

/** A block's header as it stands in the state queue. Roots have 32 bytes, hashes 28; times are POSIX milliseconds. */
export interface Header {
  readonly prevUtxosRoot: Uint8Array
  readonly utxosRoot: Uint8Array
  readonly transactionsRoot: Uint8Array
  readonly depositsRoot: Uint8Array
  readonly withdrawalsRoot: Uint8Array
  /** The end of the block before. */
  readonly startTime: bigint
  /** The upper bound of the committing transaction's validity: the first moment that is no more in the block. */
  readonly endTime: bigint
  readonly prevHeaderHash: Uint8Array
  /** Blake2b-224 of the operator's verification key. */
  readonly operatorVkey: Uint8Array
  /** From 0 to 2^32 − 1. */
  readonly protocolVersion: bigint
}

/** The hash before the first block's: 28 zero bytes. */
export const genesisHeaderHash = (): Uint8Array => new Uint8Array(hashLength)

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
    header.protocolVersion,
  )

export function headerFromData(data: PlutusData | undefined): Header {
  const fields = fieldsOf(data, 0, Field.size, 'header')
  const root = (
    name: 'prevUtxosRoot' | 'utxosRoot' | 'transactionsRoot' | 'depositsRoot' | 'withdrawalsRoot',
  ) => bytesOf(fields[Field[name]], rootLength, name)
  return {
    prevUtxosRoot: root('prevUtxosRoot'),
    utxosRoot: root('utxosRoot'),
    transactionsRoot: root('transactionsRoot'),
    depositsRoot: root('depositsRoot'),
    withdrawalsRoot: root('withdrawalsRoot'),
    startTime: integerOf(fields[Field.startTime], 'startTime'),
    endTime: integerOf(fields[Field.endTime], 'endTime'),
    prevHeaderHash: bytesOf(fields[Field.prevHeaderHash], hashLength, 'prevHeaderHash'),
    operatorVkey: bytesOf(fields[Field.operatorVkey], hashLength, 'operatorVkey'),
    protocolVersion: integerOf(fields[Field.protocolVersion], 'protocolVersion'),
  }
}

export const encodeHeader = (header: Header): Uint8Array => encodePlutusData(headerToData(header))

/** @throws {MalformedData} */
export const decodeHeader = (cbor: Uint8Array): Header => headerFromData(decodePlutusData(cbor))

/** Blake2b-224 of the header's Plutus data, as the validator computes it: 28 bytes. */
export const headerHash = (header: Header): Uint8Array => blake2b224(encodeHeader(header))
