import { PlutusDataError } from '../errors.js'
import type { DataValue } from '../plutus/cek/values/data.js'
import type { LinkedList } from '../plutus/cek/values/list.js'

/*
 * Reads Plutus data as scripts do: by position, and only the parts that they read. The others have any form.
 */

/** @throws {PlutusDataError} unless the data is a constructor */
export function constructorOf(data: DataValue): bigint {
  return asConstructor(data).index
}

/** @throws {PlutusDataError} unless the data is a constructor */
export function fieldsOf(data: DataValue): LinkedList<DataValue> {
  return asConstructor(data).fields
}

function asConstructor(data: DataValue): Extract<DataValue, { kind: 'constructor' }> {
  if (data.kind === 'constructor') return data
  throw new PlutusDataError(`a constructor is missing: it is ${data.kind}`)
}

/** @throws {PlutusDataError} unless the list has an item at the index */
export function at(items: LinkedList<DataValue>, index: number): DataValue {
  let rest = items
  for (let i = 0; i < index && rest !== null; i++) rest = rest.tail
  if (rest === null) throw new PlutusDataError(`item ${index} of a list is missing`)
  return rest.head
}

/** @throws {PlutusDataError} unless the data is a list */
export function itemsOf(data: DataValue): readonly DataValue[] {
  if (data.kind !== 'list') throw new PlutusDataError(`a list is missing: it is ${data.kind}`)
  const items: DataValue[] = []
  for (let rest = data.items; rest !== null; rest = rest.tail) items.push(rest.head)
  return items
}

/** @param length of the bytes; any if undefined @throws {PlutusDataError} unless the data is such bytes */
export function bytesOf(data: DataValue, length?: number): Uint8Array {
  if (data.kind === 'bytes' && (length === undefined || data.value.length === length)) return data.value
  throw new PlutusDataError(`${length ?? 'some'} bytes are missing`)
}

/** @throws {PlutusDataError} unless the data is an integer */
export function integerOf(data: DataValue): bigint {
  if (data.kind === 'integer') return data.value
  throw new PlutusDataError(`an integer is missing: it is ${data.kind}`)
}
