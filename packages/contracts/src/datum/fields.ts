import { MalformedData } from '../errors.js'
import type { PlutusConstr, PlutusData } from './plutus-data.js'

/*
 * What decoders expect of data. Each names in its error what it was reading.
 */

export function constrOf(data: PlutusData | undefined, what: string): PlutusConstr {
  if (typeof data === 'object' && 'fields' in data) return data
  throw new MalformedData(`${what}: a constructor is missing`)
}

/** The fields of constructor `index`, which has exactly `size` of them. */
export function fieldsOf(
  data: PlutusData | undefined,
  index: number,
  size: number,
  what: string,
): readonly PlutusData[] {
  const found = constrOf(data, what)
  if (found.index !== index || found.fields.length !== size) {
    throw new MalformedData(
      `${what}: constructor ${found.index} of ${found.fields.length} fields instead of ${index} of ${size}`,
    )
  }
  return found.fields
}

export function bytesOf(data: PlutusData | undefined, length: number, what: string): Uint8Array {
  if (data instanceof Uint8Array && data.length === length) return data
  throw new MalformedData(`${what}: ${length} bytes are missing`)
}

export function integerOf(data: PlutusData | undefined, what: string): bigint {
  if (typeof data === 'bigint') return data
  throw new MalformedData(`${what}: an integer is missing`)
}

export function listOf(data: PlutusData | undefined, what: string): readonly PlutusData[] {
  if (Array.isArray(data)) return data
  throw new MalformedData(`${what}: a list is missing`)
}
