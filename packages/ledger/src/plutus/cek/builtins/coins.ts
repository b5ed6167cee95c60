import { fromHex, toHex } from '@ratatosk/cbor'
import { quantityCount } from '../costs/measures.js'
import { fail } from '../failures.js'
import { boolConstant, type Coins, Constant, dataConstant, integerConstant } from '../values/constant.js'
import { valueType } from '../values/constant-type.js'
import { bytesData, type DataValue, integerData, mapData, type Pair } from '../values/data.js'
import type { LinkedList } from '../values/list.js'
import { builtin, bytesAt, coinsAt, dataAt, integerAt } from './builtin.js'

const maxKeySize = 32
const maxQuantity = 2n ** 127n - 1n
/** Maximum number of quantities in the argument of `valueData`. */
const maxTranslated = 40_000

function made(coins: Coins): Constant {
  return new Constant(valueType, coins)
}

function quantity(value: bigint): bigint {
  if (value > maxQuantity || value < -maxQuantity - 1n) fail('A quantity has more than 128 bits')
  return value
}

function checkedKey(bytes: Uint8Array): string {
  if (bytes.length > maxKeySize) fail('A key of a value has more than 32 bytes')
  return toHex(bytes)
}

/** A copy of the quantities with one of them replaced; zero removes it. */
function replaced(coins: Coins, policy: string, name: string, amount: bigint): Coins {
  const names = new Map(coins.get(policy))
  if (amount === 0n) names.delete(name)
  else names.set(name, amount)
  const all = new Map(coins)
  if (names.size === 0) all.delete(policy)
  else all.set(policy, sorted(names))
  return sorted(all)
}

/** Hex sorts like bytes. */
function sorted<Item>(map: ReadonlyMap<string, Item>): Map<string, Item> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function union(a: Coins, b: Coins): Coins {
  const all = new Map(a)
  for (const [policy, added] of b) {
    const names = new Map(all.get(policy))
    for (const [name, amount] of added) {
      const sum = quantity((names.get(name) ?? 0n) + amount)
      if (sum === 0n) names.delete(name)
      else names.set(name, sum)
    }
    if (names.size === 0) all.delete(policy)
    else all.set(policy, sorted(names))
  }
  return sorted(all)
}

function contains(all: Coins, part: Coins): boolean {
  for (const coins of [all, part]) {
    for (const names of coins.values()) {
      for (const amount of names.values()) if (amount < 0n) fail('valueContains: a quantity is negative')
    }
  }
  for (const [policy, names] of part) {
    for (const [name, amount] of names) if ((all.get(policy)?.get(name) ?? 0n) < amount) return false
  }
  return true
}

function scaled(coins: Coins, factor: bigint): Coins {
  const all = new Map<string, ReadonlyMap<string, bigint>>()
  if (factor === 0n) return all
  for (const [policy, names] of coins) {
    all.set(policy, new Map([...names].map(([name, amount]) => [name, quantity(amount * factor)])))
  }
  return all
}

function toData(coins: Coins): DataValue {
  if (quantityCount(coins) > maxTranslated) fail('valueData: the value is too large')
  const key = (hex: string): DataValue => bytesData(fromHex(hex))
  return mapData(
    [...coins].map(([policy, names]) => [
      key(policy),
      mapData([...names].map(([name, amount]) => [key(name), integerData(amount)])),
    ]),
  )
}

/** Accepts only what `valueData` returns: ascending keys, no empty maps, no zeros. */
function fromData(data: DataValue): Coins {
  return readMap(data, (names) => {
    const read = readMap(names, (amount) => {
      if (amount.kind !== 'integer' || amount.value === 0n) return fail('unValueData: not a quantity')
      return quantity(amount.value)
    })
    return read.size === 0 ? fail('unValueData: a policy without quantities') : read
  })
}

function readMap<Item>(data: DataValue, read: (data: DataValue) => Item): Map<string, Item> {
  if (data.kind !== 'map') return fail('unValueData: not a map')
  const map = new Map<string, Item>()
  let last: string | undefined
  for (let cell: LinkedList<Pair<DataValue, DataValue>> = data.entries; cell !== null; cell = cell.tail) {
    const { first, second } = cell.head
    if (first.kind !== 'bytes') return fail('unValueData: a key is not a byte string')
    const key = checkedKey(first.value)
    if (last !== undefined && last >= key) fail('unValueData: keys are out of order')
    map.set(key, read(second))
    last = key
  }
  return map
}

/** The builtins on values of ledger version 11: quantities by policy and name. */
export const coins = {
  insertCoin: builtin(0, 4, (args) => {
    const [policy, name] = [bytesAt(args, 0), bytesAt(args, 1)]
    const amount = integerAt(args, 2)
    const all = coinsAt(args, 3)
    // A value has no key that is too long, so removing one is not a failure.
    if (amount === 0n) return made(replaced(all, toHex(policy), toHex(name), 0n))
    return made(replaced(all, checkedKey(policy), checkedKey(name), quantity(amount)))
  }),
  lookupCoin: builtin(0, 3, (args) => {
    const [policy, name] = [toHex(bytesAt(args, 0)), toHex(bytesAt(args, 1))]
    return integerConstant(coinsAt(args, 2).get(policy)?.get(name) ?? 0n)
  }),
  unionValue: builtin(0, 2, (args) => made(union(coinsAt(args, 0), coinsAt(args, 1)))),
  valueContains: builtin(0, 2, (args) => boolConstant(contains(coinsAt(args, 0), coinsAt(args, 1)))),
  valueData: builtin(0, 1, (args) => dataConstant(toData(coinsAt(args, 0)))),
  unValueData: builtin(0, 1, (args) => made(fromData(dataAt(args, 0)))),
  scaleValue: builtin(0, 2, (args) => made(scaled(coinsAt(args, 1), integerAt(args, 0)))),
}
