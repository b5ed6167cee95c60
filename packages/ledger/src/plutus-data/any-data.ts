import { CborReader, isDecodeError } from '@ratatosk/cbor'
import { PlutusDataError } from '../errors.js'
import type { DataValue } from '../plutus/cek/values/data.js'
import { decodeData } from '../plutus/cek/values/data-cbor.js'

/**
 * Decodes all that the ledger takes as Plutus data, also what the protocol does not use: maps, constructors
 * beyond 127, and any depth.
 *
 * @throws {PlutusDataError} if the bytes are not Plutus data, or bytes follow it
 */
export function decodeAnyData(cbor: Uint8Array): DataValue {
  try {
    const reader = new CborReader(cbor)
    const data = decodeData(reader)
    reader.assertEnd()
    return data
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new PlutusDataError(error.message, { cause: error })
  }
}
