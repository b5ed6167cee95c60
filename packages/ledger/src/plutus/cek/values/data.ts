import { equalBytes } from '@ratatosk/cbor'
import { cons, type LinkedList, listOf } from './list.js'

export interface Pair<First, Second> {
  readonly first: First
  readonly second: Second
}

/** Plutus data. Its depth can exceed the call stack, so functions that traverse it use an explicit stack. */
export type DataValue =
  | { readonly kind: 'constructor'; readonly index: bigint; readonly fields: LinkedList<DataValue> }
  | { readonly kind: 'map'; readonly entries: LinkedList<Pair<DataValue, DataValue>> }
  | { readonly kind: 'list'; readonly items: LinkedList<DataValue> }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }

export function constructorData(index: number, fields: readonly DataValue[] = []): DataValue {
  return { kind: 'constructor', index: BigInt(index), fields: listOf(fields) }
}

export function listData(items: readonly DataValue[]): DataValue {
  return { kind: 'list', items: listOf(items) }
}

export function mapData(entries: readonly (readonly [DataValue, DataValue])[]): DataValue {
  return { kind: 'map', entries: listOf(entries.map(([first, second]) => ({ first, second }))) }
}

export function integerData(value: bigint | number): DataValue {
  return { kind: 'integer', value: BigInt(value) }
}

export function bytesData(value: Uint8Array): DataValue {
  return { kind: 'bytes', value }
}

/** Nodes that are the same object are equal, because data is immutable. */
export function equalData(left: DataValue, right: DataValue): boolean {
  let open: LinkedList<Pair<DataValue, DataValue>> = cons({ first: left, second: right }, null)
  while (open !== null) {
    const { first: a, second: b } = open.head
    open = open.tail
    if (a === b) continue
    if (a.kind === 'integer') {
      if (b.kind !== 'integer' || a.value !== b.value) return false
    } else if (a.kind === 'bytes') {
      if (b.kind !== 'bytes' || !equalBytes(a.value, b.value)) return false
    } else if (a.kind === 'map') {
      if (b.kind !== 'map' || a.entries?.length !== b.entries?.length) return false
      for (let x = a.entries, y = b.entries; x !== null && y !== null; x = x.tail, y = y.tail) {
        open = cons({ first: x.head.second, second: y.head.second }, open)
        open = cons({ first: x.head.first, second: y.head.first }, open)
      }
    } else {
      if (b.kind !== a.kind || (a.kind === 'constructor' && !sameIndex(a, b))) return false
      const these = a.kind === 'constructor' ? a.fields : a.items
      const those = b.kind === 'constructor' ? b.fields : b.kind === 'list' ? b.items : null
      if (these?.length !== those?.length) return false
      for (let x = these, y = those; x !== null && y !== null; x = x.tail, y = y.tail) {
        open = cons({ first: x.head, second: y.head }, open)
      }
    }
  }
  return true
}

function sameIndex(a: DataValue, b: DataValue): boolean {
  return a.kind === 'constructor' && b.kind === 'constructor' && a.index === b.index
}
