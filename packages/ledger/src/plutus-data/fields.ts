import { PlutusDataError } from '../errors.js'
import type { PlutusConstr, PlutusData } from './plutus-data.js'

/*
 * Accessors for decoders of datums and redeemers. `what` names the value in the error message.
 */

/**
 * Returns the data as a constructor.
 *
 * @throws PlutusDataError if it is not a constructor
 */
export function constrOf(data: PlutusData | undefined, what: string): PlutusConstr {
  if (typeof data === 'object' && 'fields' in data) return data
  throw new PlutusDataError(`${what}: a constructor is missing`)
}

/**
 * Returns the fields of constructor `index`.
 *
 * @param size the expected number of fields
 * @throws PlutusDataError if the data is not this constructor with `size` fields
 */
export function fieldsOf(
  data: PlutusData | undefined,
  index: number,
  size: number,
  what: string,
): readonly PlutusData[] {
  const found = constrOf(data, what)
  if (found.index !== index || found.fields.length !== size) {
    throw new PlutusDataError(
      `${what}: constructor ${found.index} of ${found.fields.length} fields instead of ${index} of ${size}`,
    )
  }
  return found.fields
}

/**
 * Returns the data as a byte string of `length` bytes.
 *
 * @throws PlutusDataError if it is not one
 */
export function bytesOf(data: PlutusData | undefined, length: number, what: string): Uint8Array {
  if (data instanceof Uint8Array && data.length === length) return data
  throw new PlutusDataError(`${what}: ${length} bytes are missing`)
}

/**
 * Returns the data as an integer.
 *
 * @throws PlutusDataError if it is not one
 */
export function integerOf(data: PlutusData | undefined, what: string): bigint {
  if (typeof data === 'bigint') return data
  throw new PlutusDataError(`${what}: an integer is missing`)
}

/**
 * Returns the data as a list.
 *
 * @throws PlutusDataError if it is not one
 */
export function listOf(data: PlutusData | undefined, what: string): readonly PlutusData[] {
  if (Array.isArray(data)) return data
  throw new PlutusDataError(`${what}: a list is missing`)
}
