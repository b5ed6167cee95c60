import { BytesSet, fromHex, toHex } from '@ratatosk/cbor'
import {
  addressOf,
  type Draft,
  encodeDraft,
  encodeInput,
  encodeList,
  encodeOutput,
  encodeSet,
  encodeUint,
  withFields,
} from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import { decodeTransaction } from '../transaction/decode.js'
import type { NativeScript, PlutusLanguage, ValidityInterval } from '../transaction/types.js'
import { languageViews, satisfies, scriptIntegrityHash } from './utxow.js'

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

const none: Draft = {
  body: new Map([
    [0, encodeSet([encodeInput(new Uint8Array(32), 0)])],
    [1, encodeList([encodeOutput({ address: addressOf(new Uint8Array(28)), lovelace: 1n })])],
    [2, encodeUint(0)],
  ]),
  witnesses: new Map(),
  signers: [],
  isValid: true,
}
const costModels = { PlutusV1: [1n, -2n], PlutusV2: [300n], PlutusV3: [2n ** 40n] }
const parameters = { costModels }

const views = (...languages: PlutusLanguage[]): string => toHex(languageViews(new Set(languages), parameters))
const hash = (draft: Draft, ...languages: PlutusLanguage[]): Uint8Array | undefined =>
  scriptIntegrityHash(decodeTransaction(encodeDraft(draft)), new Set(languages), parameters)

describe('the cost models in the preimage of the script data hash', () => {
  it.each<[string, PlutusLanguage[]]>([
    ['a0', []],
    ['a1018119012c', ['PlutusV2']],
    ['a102811b0000010000000000', ['PlutusV3']],
    // Plutus V1: byte strings that contain CBOR; the model is an indefinite list.
    ['a14100449f0121ff', ['PlutusV1']],
    ['a3018119012c02811b00000100000000004100449f0121ff', ['PlutusV1', 'PlutusV3', 'PlutusV2']],
  ])('are %s', (expected, languages) => {
    expect(views(...languages)).toBe(expected)
  })

  it('are null for a language without a cost model', () => {
    const languages = new Set<PlutusLanguage>(['PlutusV1', 'PlutusV3'])
    expect(toHex(languageViews(languages, { costModels: {} }))).toBe('a202f6410041f6')
  })
})

describe('the script data hash', () => {
  const datums = fromHex('d9010281182a')
  const asList = fromHex('8184000000821903e81a000f4240')
  const asMap = fromHex('a18200008200821903e81a000f4240')

  it('is absent without redeemers, datums and languages', () => {
    expect(hash(none)).toBeUndefined()
  })

  it.each<[string, Draft, PlutusLanguage[], string]>([
    ['datums alone', withFields(none, {}, { 4: datums }), [], 'a0 d9010281182a a0'],
    ['a language alone', none, ['PlutusV2'], 'a0 a1018119012c'],
    [
      'redeemers in a list',
      withFields(none, {}, { 5: asList }),
      ['PlutusV2'],
      '8184000000821903e81a000f4240 a1018119012c',
    ],
    [
      'redeemers in a map, and datums',
      withFields(none, {}, { 4: datums, 5: asMap }),
      ['PlutusV3'],
      'a18200008200821903e81a000f4240 d9010281182a a102811b0000010000000000',
    ],
  ])('hashes the submitted bytes: %s', (_, draft, languages, preimage) => {
    expect(toHex(hash(draft, ...languages)!)).toBe(toHex(blake2b256(fromHex(preimage.replaceAll(' ', '')))))
  })
})
