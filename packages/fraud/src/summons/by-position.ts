import { type DataValue, type LinkedList, PlutusDataError } from '@ratatosk/ledger/plutus-data'
import type { Proof, ProofStep } from '@ratatosk/trie'

/*
 * Reads Plutus data as the scripts do: by position, and only what they read. What lies behind or beside is of
 * any form.
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

/** Constructors of a step: any other is a leaf. */
const Step = { branch: 0n, fork: 1n } as const

/**
 * A proof, of which the scripts take several forms.
 *
 * @throws {PlutusDataError} if the scripts take none like it
 */
export const proofFrom = (data: DataValue): Proof => itemsOf(data).map(stepFrom)

function stepFrom(data: DataValue): ProofStep {
  const kind = constructorOf(data)
  const fields = fieldsOf(data)
  const skip = Number(integerOf(at(fields, 0)))
  if (kind === Step.branch) return { type: 'branch', skip, neighbors: bytesOf(at(fields, 1), 128) }
  if (kind !== Step.fork) {
    const neighbor = { key: bytesOf(at(fields, 1), 32), value: bytesOf(at(fields, 2), 32) }
    return { type: 'leaf', skip, neighbor }
  }
  const neighbor = fieldsOf(at(fields, 1))
  return {
    type: 'fork',
    skip,
    neighbor: {
      nibble: Number(integerOf(at(neighbor, 0))),
      prefix: bytesOf(at(neighbor, 1)),
      root: bytesOf(at(neighbor, 2), 32),
    },
  }
}
