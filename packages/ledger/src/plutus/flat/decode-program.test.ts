import { vectorsFolder } from '@ratatosk/fixtures/vectors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TermKind } from '../cek/values/term.js'
import { scriptBytes } from '../test/flat.js'
import { readUplcCases } from '../test/uplc-suite.js'
import { decodeFlat, decodeProgram, isPlutusScript } from './program.js'

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
