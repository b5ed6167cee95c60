import { fail } from '../failures.js'
import { boolConstant, integerConstant } from '../values/constant.js'
import type { Value } from '../values/value.js'
import { type BuiltinFunction, builtin, integerAt, type Semantics } from './builtin.js'

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
