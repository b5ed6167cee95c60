import { fail } from '../failures.js'
import { boolConstant, Constant, type Content, integerConstant } from '../values/constant.js'
import { arrayType, type ConstantType, sameType, TypeTag } from '../values/constant-type.js'
import { arrayOf, cons, type LinkedList, lengthOf } from '../values/list.js'
import type { Value } from '../values/value.js'
import { anyAt, boolAt, builtin, constantAt, intAt, integerAt, listAt, pairAt, unitAt } from './builtin.js'

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
