import { lie, type TransactionLie } from '../lie.js'
import { strangeItem } from '../statements.js'
import { list, map, type Plan, policy, string, text, uint } from '../transactions.js'

/*
 * Transactions with an item that the ledger does not decode, where other claims read past it. Their twins
 * have an item at the same place.
 */

export type Case = readonly [
  what: string,
  item: Uint8Array,
  path: readonly number[],
  same?: readonly [number, number] | undefined,
]

export const lies = (
  of: 'body' | 'witness set',
  twin: Plan,
  plan: (item: Uint8Array) => Plan,
  cases: readonly Case[],
): TransactionLie[] =>
  cases.map(([what, item, path, same]) => lie(what, plan(item), twin, strangeItem(of, path, same), false))

export const field =
  (key: number) =>
  (item: Uint8Array): Plan => ({ fields: [[key, item]] })
export const ofField = (key: number, twin: Uint8Array, ...cases: readonly Case[]) =>
  lies(
    'body',
    field(key)(twin),
    field(key),
    cases.map(([what, item, path, same]) => [what, item, [key, ...path], same]),
  )

export const bytes = (length: number) => string(new Uint8Array(length))
export const text1 = Uint8Array.of(0x61, 0x61)
export const key1 = string(policy(1))
export const key2 = string(policy(2))
export const otherTag = 259
export const setTag = 258

export const [gold, silver] = [string(text('gold')), string(text('silver'))]
export const token = (quantity: Uint8Array) => map([key1, map([gold, quantity])])
export const twice = map([gold, uint(1)], [gold, uint(1)])
export const native = list(uint(0), key1)
