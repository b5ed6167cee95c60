import { fromHex } from '@ratatosk/cbor'
import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { PlutusLanguage } from '../../transaction/types.js'
import { TermKind } from '../cek/values/term.js'
import { scriptBytes } from '../test/flat.js'
import { readUplcCases } from '../test/uplc-suite.js'
import { decodeFlat, decodeProgram, isPlutusScript } from './program.js'

/** Wraps flat bits, given as text, into a CBOR byte string; pads the last byte as flat does. */
function script(bits: string): Uint8Array {
  const packed = bits.replace(/\s/g, '')
  const filled = `${packed}${'0'.repeat(7 - (packed.length % 8))}1`
  const bytes = filled.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []
  return Uint8Array.of(0x58, bytes.length, ...bytes)
}

const v100 = '00000001 00000000 00000000'
const v110 = '00000001 00000001 00000000'
const unitTerm = '0100 1 0011 0'
const builtin = (number: number): string => `0111 ${number.toString(2).padStart(7, '0')}`
/** A constant of a type given by its tags; the value's bits follow. */
const constant = (tags: readonly number[], value: string): string =>
  `0100 ${tags.map((tag) => `1 ${tag.toString(2).padStart(4, '0')}`).join(' ')} 0 ${value}`

describe('isPlutusScript', () => {
  it('accepts a script from the chain', () => {
    const alwaysSucceeds = fromHex('4d01000033222220051200120011')
    expect(isPlutusScript(alwaysSucceeds, 'PlutusV1', 9)).toBe(true)
  })

  it.each([
    ['a constant', `${v100} ${unitTerm}`],
    ['a lambda and its variable', `${v100} 0010 0000 00000001`],
    ['delay, force, application, error', `${v100} 0011 0101 0001 0110 ${unitTerm}`],
    ['a negative integer of many bytes', `${v100} ${constant([0], '10000001 11111111 00000001')}`],
    ['a list of integers', `${v100} ${constant([7, 5, 0], '1 00000010 1 00000100 0')}`],
    ['an empty list of BLS12-381 elements', `${v100} ${constant([7, 5, 9], '0')}`],
    ['a pair of units', `${v100} ${constant([7, 7, 6, 3, 3], '')}`],
  ])('accepts %s', (_, bits) => {
    expect(isPlutusScript(script(bits), 'PlutusV1', 10)).toBe(true)
  })

  it.each([
    ['an unknown term', `${v100} 1111`],
    ['a type that is not applied', `${v100} ${constant([5], '0')}`],
    ['a type applied to too much', `${v100} ${constant([7, 0, 0], '00000000')}`],
    ['a BLS12-381 element', `${v100} ${constant([9], '')}`],
    ['a type tag that means nothing', `${v100} ${constant([15], '')}`],
    ['an end in the middle', `${v100} 0011 ${unitTerm}`],
    ['another version', `00000010 00000000 00000000 ${unitTerm}`],
  ])('refuses %s', (_, bits) => {
    expect(isPlutusScript(script(bits), 'PlutusV3', 11)).toBe(false)
  })

  it.each<[string, PlutusLanguage, number, string, boolean?]>([
    ['the language', 'PlutusV3', 8, `${v100} ${unitTerm}`],
    ['constr, for V3', 'PlutusV3', 9, `${v110} 1000 00000000 0`, true],
    ['constr, for V2', 'PlutusV2', 11, `${v110} 1000 00000000 0`, true],
    ['constr, for V2, before ledger version 11', 'PlutusV2', 10, `${v110} 1000 00000000 0`],
    ['constr, before Plutus Core 1.1.0', 'PlutusV3', 11, `${v100} 1000 00000000 0`],
    ['case with a branch', 'PlutusV3', 9, `${v110} 1001 ${unitTerm} 1 ${unitTerm} 0`, true],
    ['serialiseData, for V1', 'PlutusV1', 10, `${v100} ${builtin(51)}`],
    ['serialiseData, for V2', 'PlutusV2', 7, `${v100} ${builtin(51)}`, true],
    ['BLS12-381, for V2', 'PlutusV2', 10, `${v100} ${builtin(54)}`],
    ['integerToByteString, for V2', 'PlutusV2', 10, `${v100} ${builtin(73)}`, true],
    ['bitwise operations, for V3', 'PlutusV3', 9, `${v100} ${builtin(75)}`],
    ['bitwise operations, for V3, from 10 on', 'PlutusV3', 10, `${v100} ${builtin(75)}`, true],
    ['expModInteger, for V1, from 11 on', 'PlutusV1', 11, `${v100} ${builtin(87)}`, true],
    ['a builtin that is not assigned', 'PlutusV3', 11, `${v100} ${builtin(101)}`],
  ])('checks that the ledger version has %s', (_, language, major, bits, expected) => {
    expect(isPlutusScript(script(bits), language, major)).toBe(expected ?? false)
  })

  it('refuses bytes after the program, and with Plutus V3 also after the byte string', () => {
    const bytes = script(`${v100} ${unitTerm}`)
    const after = Uint8Array.of(...bytes, 0)
    expect(isPlutusScript(after, 'PlutusV2', 10)).toBe(true)
    expect(isPlutusScript(after, 'PlutusV3', 10)).toBe(false)
    const inside = Uint8Array.of(0x58, bytes.length - 1, ...bytes.subarray(2), 0)
    expect(isPlutusScript(inside, 'PlutusV2', 10)).toBe(false)
  })

  it('accepts deeply nested terms', () => {
    expect(isPlutusScript(deep(16_000), 'PlutusV3', 10)).toBe(true)
  })

  it('refuses bytes that are not a CBOR byte string', () => {
    expect(isPlutusScript(Uint8Array.of(), 'PlutusV3', 10)).toBe(false)
    expect(isPlutusScript(fromHex('83010203'), 'PlutusV3', 10)).toBe(false)
    expect(isPlutusScript(fromHex('40'), 'PlutusV3', 10)).toBe(false)
  })
})

/** A unit inside as many delays as fit in 16 kB. */
function deep(bytes: number): Uint8Array {
  const program = Uint8Array.of(1, 0, 0, ...new Uint8Array(bytes).fill(0x11), 0b01001001, 0b10000001)
  return Uint8Array.of(0x59, program.length >> 8, program.length & 0xff, ...program)
}

const suite = vectorsFolder('uplc-evaluation')

test('finds free variables anywhere in a term', () => {
  // λ.1, λ.2, and an application of error to 0
  expect(decodeFlat(Uint8Array.of(1, 0, 0, 0x20, 0x01, 0x81)).closed).toBe(true)
  expect(decodeFlat(Uint8Array.of(1, 0, 0, 0x20, 0x02, 0x81)).closed).toBe(false)
  expect(decodeFlat(Uint8Array.of(1, 0, 0, 0x36, 0x00, 0x00, 0x01)).closed).toBe(false)
})

test('decodes a term as deep as a script can be', () => {
  const { term } = decodeFlat(Uint8Array.of(1, 0, 0, ...new Uint8Array(16_000).fill(0x11), 0x61))
  expect(term.kind).toBe(TermKind.delay)
})

test('refuses a constant that is much larger than its script', () => {
  const pair = (depth: number): readonly number[] =>
    depth === 0 ? [3] : [7, 7, 6, ...pair(depth - 1), ...pair(depth - 1)]
  /** A list of tuples of units, each of which takes one bit. */
  const listOf = (count: number, depth: number) => {
    const tags = [7, 5, ...pair(depth)].map((tag) => `1${tag.toString(2).padStart(4, '0')}`)
    const bits = `0100${tags.join('')}0${'1'.repeat(count)}0`
    const padded = bits.padEnd(8 * Math.ceil((bits.length + 1) / 8) - 1, '0').concat('1')
    return Uint8Array.of(1, 0, 0, ...(padded.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  }
  expect(decodeFlat(listOf(1000, 1)).term.kind).toBe(TermKind.constant)
  expect(() => decodeFlat(listOf(60_000, 10))).toThrow('much larger than the script')
})

describe.skipIf(suite === undefined)('scripts that the rules accept (need uplc-evaluation)', () => {
  const programs = suite === undefined ? [] : readUplcCases(suite).flatMap(({ flat }) => flat ?? [])

  test('are decoded, even after mutation', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 })
    let [intact, damaged] = [0, 0]
    fc.assert(
      fc.property(fc.constantFrom(...programs), damage, (program, changes) => {
        const flat = Uint8Array.from(program)
        for (const [at, byte] of changes) flat[at % flat.length] = byte
        const script = scriptBytes(flat)
        if (!isPlutusScript(script, 'PlutusV3', 11)) return
        expect(() => decodeProgram(script)).not.toThrow()
        if (changes.length === 0) intact++
        else damaged++
      }),
      { numRuns: 2_000 },
    )
    expect(intact).toBeGreaterThan(0)
    expect(damaged).toBeGreaterThan(0)
  })
})
