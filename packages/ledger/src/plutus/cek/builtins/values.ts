import { fail } from '../failures.js'
import {
  boolConstant,
  bytesConstant,
  Constant,
  type Content,
  dataConstant,
  integerConstant,
} from '../values/constant.js'
import {
  arrayType,
  type ConstantType,
  constructorPairType,
  dataListType,
  dataPairListType,
  dataPairType,
  sameType,
  stringType,
  TypeTag,
} from '../values/constant-type.js'
import { type DataValue, encodeData, equalData, type Pair } from '../values/data.js'
import { arrayOf, cons, type LinkedList, lengthOf } from '../values/list.js'
import type { Value } from '../values/value.js'
import {
  anyAt,
  type BuiltinFunction,
  boolAt,
  builtin,
  bytesAt,
  constantAt,
  contentOf,
  dataAt,
  intAt,
  integerAt,
  listAt,
  pairAt,
  type Semantics,
  textAt,
  unitAt,
} from './builtin.js'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return fail('decodeUtf8: not UTF-8')
  }
}

export const text = {
  appendString: builtin(0, 2, (args) => new Constant(stringType, textAt(args, 0) + textAt(args, 1))),
  equalsString: builtin(0, 2, (args) => boolConstant(textAt(args, 0) === textAt(args, 1))),
  encodeUtf8: builtin(0, 1, (args) => bytesConstant(encoder.encode(textAt(args, 0)))),
  decodeUtf8: builtin(0, 1, (args) => new Constant(stringType, decodeUtf8(bytesAt(args, 0)))),
  trace: builtin(1, 2, (args, { trace }) => {
    trace(textAt(args, 0))
    return anyAt(args, 1)
  }),
}

function elementType(args: readonly Value[], at: number): ConstantType {
  return constantAt(args, at).type.first ?? fail('An argument of a builtin has the wrong type')
}

function secondType(args: readonly Value[], at: number): ConstantType {
  return constantAt(args, at).type.second ?? fail('An argument of a builtin has the wrong type')
}

function arrayAt(args: readonly Value[], at: number): readonly Content[] {
  const { type, content } = constantAt(args, at)
  if (type.tag !== TypeTag.array) fail('An argument of a builtin has the wrong type')
  return content as readonly Content[]
}

function drop(list: LinkedList<Content>, count: bigint): LinkedList<Content> {
  if (count >= BigInt(lengthOf(list))) return null
  let rest = list
  for (let left = Number(count); left > 0 && rest !== null; left--) rest = rest.tail
  return rest
}

/** Pairs, lists, arrays, and the builtins that choose between their arguments. */
export const collections = {
  ifThenElse: builtin(1, 3, (args) => anyAt(args, boolAt(args, 0) ? 1 : 2)),
  chooseUnit: builtin(1, 2, (args) => {
    unitAt(args, 0)
    return anyAt(args, 1)
  }),
  fstPair: builtin(2, 1, (args) => {
    const { first } = pairAt(args, 0)
    return new Constant(elementType(args, 0), first)
  }),
  sndPair: builtin(2, 1, (args) => {
    const { second } = pairAt(args, 0)
    return new Constant(secondType(args, 0), second)
  }),
  chooseList: builtin(2, 3, (args) => anyAt(args, listAt(args, 0) === null ? 1 : 2)),
  mkCons: builtin(1, 2, (args) => {
    const head = constantAt(args, 0)
    const tail = listAt(args, 1)
    if (!sameType(head.type, elementType(args, 1))) fail('mkCons: the item is of another type than the list')
    return new Constant(constantAt(args, 1).type, cons(head.content, tail))
  }),
  headList: builtin(1, 1, (args) => {
    const list = listAt(args, 0)
    return list === null ? fail('headList: the list is empty') : new Constant(elementType(args, 0), list.head)
  }),
  tailList: builtin(1, 1, (args) => {
    const list = listAt(args, 0)
    return list === null
      ? fail('tailList: the list is empty')
      : new Constant(constantAt(args, 0).type, list.tail)
  }),
  nullList: builtin(1, 1, (args) => boolConstant(listAt(args, 0) === null)),
  dropList: builtin(1, 2, (args) => {
    const list = listAt(args, 1)
    return new Constant(constantAt(args, 1).type, drop(list, integerAt(args, 0)))
  }),
  lengthOfArray: builtin(1, 1, (args) => integerConstant(BigInt(arrayAt(args, 0).length))),
  listToArray: builtin(1, 1, (args) => {
    const list = listAt(args, 0)
    return new Constant(arrayType(elementType(args, 0)), arrayOf(list))
  }),
  indexArray: builtin(1, 2, (args) => {
    const array = arrayAt(args, 0)
    const at = intAt(args, 1)
    if (at < 0 || at >= array.length) fail('indexArray: out of bounds')
    return new Constant(elementType(args, 0), array[at])
  }),
}

const maxIndex = 2n ** 64n - 1n

/** The order of `chooseData`'s branches. */
const branches: { readonly [kind in DataValue['kind']]: number } = {
  constructor: 1,
  map: 2,
  list: 3,
  integer: 4,
  bytes: 5,
}

function wrong(wanted: string): never {
  return fail(`The data is not ${wanted}`)
}

export const dataBuiltins = {
  chooseData: builtin(1, 6, (args) => anyAt(args, branches[dataAt(args, 0).kind])),
  constrData: builtin(0, 2, (args, { bounded }) => {
    const index = integerAt(args, 0)
    const fields = contentOf(args, 1, dataListType) as LinkedList<DataValue>
    if (bounded && (index < 0n || index > maxIndex)) fail('constrData: the index is out of bounds')
    return dataConstant({ kind: 'constructor', index, fields })
  }),
  mapData: builtin(0, 1, (args) =>
    dataConstant({
      kind: 'map',
      entries: contentOf(args, 0, dataPairListType) as LinkedList<Pair<DataValue, DataValue>>,
    }),
  ),
  listData: builtin(0, 1, (args) =>
    dataConstant({ kind: 'list', items: contentOf(args, 0, dataListType) as LinkedList<DataValue> }),
  ),
  iData: builtin(0, 1, (args) => dataConstant({ kind: 'integer', value: integerAt(args, 0) })),
  bData: builtin(0, 1, (args) => dataConstant({ kind: 'bytes', value: bytesAt(args, 0) })),
  unConstrData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    if (data.kind !== 'constructor') return wrong('a constructor')
    return new Constant(constructorPairType, { first: data.index, second: data.fields })
  }),
  unMapData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'map' ? new Constant(dataPairListType, data.entries) : wrong('a map')
  }),
  unListData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'list' ? new Constant(dataListType, data.items) : wrong('a list')
  }),
  unIData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'integer' ? integerConstant(data.value) : wrong('an integer')
  }),
  unBData: builtin(0, 1, (args) => {
    const data = dataAt(args, 0)
    return data.kind === 'bytes' ? bytesConstant(data.value) : wrong('a byte string')
  }),
  equalsData: builtin(0, 2, (args) => boolConstant(equalData(dataAt(args, 0), dataAt(args, 1)))),
  mkPairData: builtin(
    0,
    2,
    (args) => new Constant(dataPairType, { first: dataAt(args, 0), second: dataAt(args, 1) }),
  ),
  mkNilData: builtin(0, 1, (args) => {
    unitAt(args, 0)
    return new Constant(dataListType, null)
  }),
  mkNilPairData: builtin(0, 1, (args) => {
    unitAt(args, 0)
    return new Constant(dataPairListType, null)
  }),
  serialiseData: builtin(0, 1, (args) => bytesConstant(encodeData(dataAt(args, 0)))),
}

const boundOfIntegers = 2n ** 262_143n
const boundOfModularPowers = 2n ** 8191n

function operation(compute: (a: bigint, b: bigint) => bigint): BuiltinFunction {
  return builtin(0, 2, (args, semantics) => made(compute(integerAt(args, 0), integerAt(args, 1)), semantics))
}

function comparison(compare: (a: bigint, b: bigint) => boolean): BuiltinFunction {
  return builtin(0, 2, (args) => boolConstant(compare(integerAt(args, 0), integerAt(args, 1))))
}

function made(value: bigint, { bounded }: Semantics): Value {
  if (bounded && (value >= boundOfIntegers || value < -boundOfIntegers)) fail('An integer has too many bits')
  return integerConstant(value)
}

function nonZero(divisor: bigint): bigint {
  return divisor === 0n ? fail('Division by zero') : divisor
}

/** Rounds towards minus infinity. */
function divide(a: bigint, b: bigint): bigint {
  const quotient = a / nonZero(b)
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/** The result has the sign of the divisor. */
function modulo(a: bigint, b: bigint): bigint {
  const remainder = a % nonZero(b)
  return remainder !== 0n && remainder < 0n !== b < 0n ? remainder + b : remainder
}

/** `base` to the power of `exponent`, modulo `modulus`. A negative exponent uses the modular inverse. */
function modularPower(base: bigint, exponent: bigint, modulus: bigint): bigint {
  if (modulus <= 0n || modulus >= boundOfModularPowers) fail('expModInteger: the modulus is out of bounds')
  if (modulus === 1n) return 0n
  for (const value of [base, exponent]) {
    if (value >= boundOfModularPowers || value < -boundOfModularPowers) fail('expModInteger: out of bounds')
  }
  let factor = modulo(base, modulus)
  if (exponent < 0n) factor = inverse(factor, modulus)
  let power = 1n
  const bits = (exponent < 0n ? -exponent : exponent).toString(2)
  for (const bit of bits) {
    power = (power * power) % modulus
    if (bit === '1') power = (power * factor) % modulus
  }
  return power
}

/** Uses the extended Euclidean algorithm. */
function inverse(value: bigint, modulus: bigint): bigint {
  let [greater, lesser] = [modulus, value]
  let [before, now] = [0n, 1n]
  while (lesser !== 0n) {
    const quotient = greater / lesser
    ;[greater, lesser] = [lesser, greater - quotient * lesser]
    ;[before, now] = [now, before - quotient * now]
  }
  if (greater !== 1n) fail('expModInteger: the base has no inverse')
  return modulo(before, modulus)
}

export const integers = {
  addInteger: operation((a, b) => a + b),
  subtractInteger: operation((a, b) => a - b),
  multiplyInteger: operation((a, b) => a * b),
  divideInteger: operation(divide),
  quotientInteger: operation((a, b) => a / nonZero(b)),
  remainderInteger: operation((a, b) => a % nonZero(b)),
  modInteger: operation(modulo),
  equalsInteger: comparison((a, b) => a === b),
  lessThanInteger: comparison((a, b) => a < b),
  lessThanEqualsInteger: comparison((a, b) => a <= b),
  expModInteger: builtin(0, 3, (args) =>
    integerConstant(modularPower(integerAt(args, 0), integerAt(args, 1), integerAt(args, 2))),
  ),
}
