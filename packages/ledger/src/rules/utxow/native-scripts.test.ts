import { BytesSet } from '@ratatosk/cbor'
import { describe, expect, it } from 'vitest'
import type { NativeScript, ValidityInterval } from '../../transaction/types.js'
import { satisfies } from '../utxow.js'

const key = (byte: number): NativeScript => ({ kind: 'signature', keyHash: new Uint8Array(28).fill(byte) })
const signed = new BytesSet([1, 2].map((byte) => new Uint8Array(28).fill(byte)))
const atLeast = (required: bigint, ...scripts: NativeScript[]): NativeScript => ({
  kind: 'at-least',
  required,
  scripts,
})
const from: NativeScript = { kind: 'invalid-before', slot: 10n }
const until: NativeScript = { kind: 'invalid-hereafter', slot: 20n }

describe('native scripts', () => {
  it.each<[string, NativeScript, boolean]>([
    ['a key that has signed', key(1), true],
    ['a key that has not', key(3), false],
    ['all of an empty list', { kind: 'all', scripts: [] }, true],
    ['all with one missing', { kind: 'all', scripts: [key(1), key(3)] }, false],
    ['any of an empty list', { kind: 'any', scripts: [] }, false],
    ['any with one present', { kind: 'any', scripts: [key(3), key(2)] }, true],
    ['two of three', atLeast(2n, key(1), key(3), key(2)), true],
    ['three of three with one missing', atLeast(3n, key(1), key(3), key(2)), false],
    ['one of an empty list', atLeast(1n), false],
    ['zero of an empty list', atLeast(0n), true],
    ['a negative number', atLeast(-2n, key(3)), true],
    ['a repeated key', atLeast(2n, key(1), key(1)), true],
  ])('%s', (_, script, expected) => {
    expect(satisfies(script, signed, {})).toBe(expected)
  })

  it.each<[string, NativeScript, ValidityInterval, boolean]>([
    ['begins at the bound', from, { invalidBefore: 10n }, true],
    ['begins too early', from, { invalidBefore: 9n }, false],
    ['has no beginning', from, { invalidHereafter: 30n }, false],
    ['ends at the bound', until, { invalidHereafter: 20n }, true],
    ['ends too late', until, { invalidHereafter: 21n }, false],
    ['has no end', until, { invalidBefore: 0n }, false],
  ])('compare a time lock with an interval that %s', (_, script, interval, expected) => {
    expect(satisfies(script, signed, interval)).toBe(expected)
  })
})
