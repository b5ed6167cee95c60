/** The types of the default universe, by their tags in flat. Values have fully applied types only. */
export const TypeTag = {
  integer: 0,
  byteString: 1,
  string: 2,
  unit: 3,
  bool: 4,
  list: 5,
  pair: 6,
  application: 7,
  data: 8,
  g1: 9,
  g2: 10,
  millerLoopResult: 11,
  array: 12,
  value: 13,
} as const

export interface ConstantType {
  readonly tag: number
  readonly first: ConstantType | undefined
  readonly second: ConstantType | undefined
}

function type(tag: number, first?: ConstantType, second?: ConstantType): ConstantType {
  return { tag, first, second }
}

// Most comparisons involve these objects and succeed by identity.
export const integerType = type(TypeTag.integer)
export const byteStringType = type(TypeTag.byteString)
const unitType = type(TypeTag.unit)
export const stringType = type(TypeTag.string)
export const boolType = type(TypeTag.bool)
export const dataType = type(TypeTag.data)
export const g1Type = type(TypeTag.g1)
export const g2Type = type(TypeTag.g2)
export const millerLoopResultType = type(TypeTag.millerLoopResult)
export const valueType = type(TypeTag.value)
export const dataPairType = type(TypeTag.pair, dataType, dataType)
export const dataListType = type(TypeTag.list, dataType)
export const dataPairListType = type(TypeTag.list, dataPairType)
export const integerListType = type(TypeTag.list, integerType)
export const g1ListType = type(TypeTag.list, g1Type)
export const g2ListType = type(TypeTag.list, g2Type)
/** The result type of `unConstrData`. */
export const constructorPairType = type(TypeTag.pair, integerType, dataListType)

const simple = new Map(
  [
    integerType,
    byteStringType,
    stringType,
    unitType,
    boolType,
    dataType,
    g1Type,
    g2Type,
    millerLoopResultType,
    valueType,
  ].map((each) => [each.tag, each]),
)

/** A type without arguments; undefined if the tag has arguments or is unknown. */
export function simpleType(tag: number): ConstantType | undefined {
  return simple.get(tag)
}

export function listType(element: ConstantType): ConstantType {
  if (element === dataType) return dataListType
  if (element === dataPairType) return dataPairListType
  return type(TypeTag.list, element)
}

export function arrayType(element: ConstantType): ConstantType {
  return type(TypeTag.array, element)
}

export function pairType(first: ConstantType, second: ConstantType): ConstantType {
  return first === dataType && second === dataType ? dataPairType : type(TypeTag.pair, first, second)
}

/** The decoder limits the depth of types, and this recursion. */
export function sameType(a: ConstantType | undefined, b: ConstantType | undefined): boolean {
  if (a === b) return true
  return (
    a !== undefined &&
    b !== undefined &&
    a.tag === b.tag &&
    sameType(a.first, b.first) &&
    sameType(a.second, b.second)
  )
}
