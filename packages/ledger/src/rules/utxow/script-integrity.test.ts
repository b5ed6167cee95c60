import { fromHex, toHex } from '@ratatosk/cbor'
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
import { decodeTransaction } from '../../transaction/decode.js'
import type { PlutusLanguage } from '../../transaction/types.js'
import { languageViews, scriptIntegrityHash } from '../utxow.js'

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
