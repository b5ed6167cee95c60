import { ProtocolParametersError } from '../errors.js'
import type { Rational } from './types.js'

export type ParameterJson = { readonly [key: string]: unknown }

export function isObject(value: unknown): value is ParameterJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectAt(parent: ParameterJson, key: string, path = key): ParameterJson {
  const value = parent[key]
  if (!isObject(value)) throw new ProtocolParametersError(path, `expected an object, got ${shown(value)}`)
  return value
}

/** A non-negative integer, given as a JSON number or a decimal string. */
export function naturalAt(parent: ParameterJson, key: string, path = key): bigint {
  const value = integer(parent[key], path)
  if (value < 0n) throw new ProtocolParametersError(path, `expected a natural number, got ${value}`)
  return value
}

/** A non-negative integer of at most 32 bits, for sizes and counts. */
export function countAt(parent: ParameterJson, key: string, path = key): number {
  const value = naturalAt(parent, key, path)
  if (value > 0xffff_ffffn) throw new ProtocolParametersError(path, `${value} is out of range (32 bits)`)
  return Number(value)
}

/** An exact fraction: `"577/10000"`, `{ numerator, denominator }`, or a decimal (`0.0577`, `7.21e-5`). */
export function rationalAt(parent: ParameterJson, key: string, path = key): Rational {
  const value = parent[key]
  if (isObject(value)) {
    const denominator = naturalAt(value, 'denominator', `${path}.denominator`)
    return fraction(naturalAt(value, 'numerator', `${path}.numerator`), denominator, path)
  }
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const ratio = /^(\d+)\/(\d+)$/.exec(text)
  if (ratio) return fraction(BigInt(ratio[1] ?? ''), BigInt(ratio[2] ?? ''), path)
  const decimal = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text)
  if (!decimal)
    throw new ProtocolParametersError(path, `expected a fraction or a decimal, got ${shown(value)}`)
  const digits = decimal[2] ?? ''
  const exponent = Number(decimal[3] ?? '0') - digits.length
  const mantissa = BigInt((decimal[1] ?? '') + digits)
  return exponent >= 0
    ? fraction(mantissa * 10n ** BigInt(exponent), 1n, path)
    : fraction(mantissa, 10n ** BigInt(-exponent), path)
}

export function integersAt(parent: ParameterJson, key: string, path = key): readonly bigint[] {
  const value = parent[key]
  if (!Array.isArray(value)) {
    throw new ProtocolParametersError(path, `expected an array of integers, got ${shown(value)}`)
  }
  return value.map((entry, position) => integer(entry, `${path}[${position}]`))
}

function integer(value: unknown, path: string): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string' && /^-?\d{1,80}$/.test(value)) return BigInt(value)
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new ProtocolParametersError(path, `expected an integer, got ${shown(value)}`)
  }
  // JSON.parse has already rounded such a number, so the intended value is lost.
  if (!Number.isSafeInteger(value)) {
    throw new ProtocolParametersError(path, `${value} is beyond 2^53: write it as a string`)
  }
  return BigInt(value)
}

function fraction(numerator: bigint, denominator: bigint, path: string): Rational {
  if (denominator === 0n) throw new ProtocolParametersError(path, 'the denominator is zero')
  return { numerator, denominator }
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return String(value)
  const text = JSON.stringify(value) ?? typeof value
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
