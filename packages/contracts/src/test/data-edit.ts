import { decodePlutusData, encodePlutusData, type PlutusData } from '@ratatosk/ledger/plutus-data'

/** A datum with the field at a path replaced; an index past the last field appends one. */
export function withField(cbor: Uint8Array, path: readonly number[], value: PlutusData): Uint8Array {
  return encodePlutusData(replaced(decodePlutusData(cbor), path, value))
}

export function withConstructor(cbor: Uint8Array, path: readonly number[], index: number): Uint8Array {
  const data = dataAt(cbor, path)
  if (typeof data !== 'object' || !('fields' in data)) throw new TypeError('no constructor there')
  return encodePlutusData(replaced(decodePlutusData(cbor), path, { ...data, index }))
}

export function dataAt(cbor: Uint8Array, path: readonly number[]): PlutusData {
  return path.reduce((inner, step) => partsOf(inner)[step]!, decodePlutusData(cbor))
}

function replaced(data: PlutusData, path: readonly number[], value: PlutusData): PlutusData {
  const [step, ...rest] = path
  if (step === undefined) return value
  const parts = [...partsOf(data)]
  parts[step] = rest.length === 0 ? value : replaced(parts[step]!, rest, value)
  return typeof data === 'object' && 'fields' in data ? { ...data, fields: parts } : parts
}

function partsOf(data: PlutusData): readonly PlutusData[] {
  if (typeof data === 'object' && 'fields' in data) return data.fields
  if (Array.isArray(data)) return data
  throw new TypeError('nothing inside')
}
