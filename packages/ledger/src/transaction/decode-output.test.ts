import { CborWriter, fromHex } from '@ratatosk/cbor'
import { encodeInput, encodeOutput } from '@ratatosk/fixtures'
import { describe, expect, it } from 'vitest'
import { blake2b224 } from '#crypto'
import { failure, hash28, hash32, inBody, keyAddress } from '../test/conway-hex.js'
import { decodeTransactionOutput } from './decode.js'
import { decodeOutputReference, encodeOutputReference, outputReferenceKey } from './output-reference.js'

describe('a value', () => {
  const policy = (fill: number, assets: string): string => `${hash28(fill)}${assets}`
  const output = (value: string): Uint8Array => fromHex(`82${keyAddress}${value}`)

  it('is lovelace, or lovelace and assets', () => {
    expect(decodeTransactionOutput(output('1bffffffffffffffff')).value.lovelace).toBe(2n ** 64n - 1n)
    expect(decodeTransactionOutput(output('00')).value.lovelace).toBe(0n)
    expect(decodeTransactionOutput(output('8203a0')).value).toEqual({ lovelace: 3n, assets: new Map() })
    const { assets } = decodeTransactionOutput(
      output(`9f03bf${policy(1, 'bf401bffffffffffffffff4102')}04ffffff`),
    ).value
    expect(assets).toEqual(
      new Map([
        [
          '01'.repeat(28),
          new Map([
            ['', 2n ** 64n - 1n],
            ['02', 4n],
          ]),
        ],
      ]),
    )
  })

  it.each([
    ['a negative quantity', `8203a1${policy(1, 'a14020')}`, 'CBOR_UNEXPECTED_TYPE'],
    ['a quantity over 64 bits', `8203a1${policy(1, 'a140c249010000000000000000')}`, 'CBOR_UNEXPECTED_TYPE'],
    ['a quantity of zero', `8203a1${policy(1, 'a14000')}`, 'CBOR_OUT_OF_RANGE'],
    ['a policy without assets', `8203a1${policy(1, 'a0')}`, 'CBOR_EMPTY'],
    ['a repeated policy', `8203a2${policy(1, 'a14001')}${policy(1, 'a14001')}`, 'CBOR_DUPLICATE'],
    ['a repeated asset name', `8203a1${policy(1, 'a240014001')}`, 'CBOR_DUPLICATE'],
    ['an asset name of 33 bytes', `8203a1${policy(1, `a15821${'00'.repeat(33)}01`)}`, 'CBOR_OUT_OF_RANGE'],
    ['a policy of 27 bytes', `8203a1581b${'00'.repeat(27)}a14001`, 'CBOR_UNEXPECTED_SIZE'],
    ['an array of three', '8303a000', 'CBOR_UNEXPECTED_SIZE'],
    ['negative lovelace', '20', 'CBOR_UNEXPECTED_TYPE'],
    ['lovelace as a bignum', 'c24101', 'CBOR_UNEXPECTED_TYPE'],
  ])('is refused: %s', (_, value, code) => {
    expect(() => decodeTransactionOutput(output(value))).toThrow(failure(code))
  })

  it('is limited by the compact form of the ledger: 44 bytes an asset, 28 a policy, 65,535 in all', () => {
    const many = (count: number): Uint8Array => {
      const writer = new CborWriter()
        .array(2)
        .bytes(fromHex(keyAddress.slice(4)))
        .array(2)
        .uint(1)
        .map(1)
      writer.bytes(new Uint8Array(28)).map(count)
      for (let i = 0; i < count; i++) writer.bytes(Uint8Array.of(i >> 8, i & 255)).uint(1)
      return writer.toBytes()
    }
    expect(decodeTransactionOutput(many(1488)).value.assets.size).toBe(1)
    expect(() => decodeTransactionOutput(many(1489))).toThrow(failure('CBOR_OUT_OF_RANGE'))
  })

  it('has signed 64-bit quantities if it is minted', () => {
    const mint = (quantity: string) => inBody({ 9: `a1${policy(1, `a140${quantity}`)}` })
    expect(mint('3b7fffffffffffffff')().mint.get('01'.repeat(28))?.get('')).toBe(-(2n ** 63n))
    expect(mint('1b7fffffffffffffff')().mint.get('01'.repeat(28))?.get('')).toBe(2n ** 63n - 1n)
    for (const quantity of ['00', '1b8000000000000000', '3b8000000000000000']) {
      expect(mint(quantity)).toThrow(failure('CBOR_OUT_OF_RANGE', `mint[${'01'.repeat(28)}][]`))
    }
  })
})

describe('an output', () => {
  it('is decoded from an array and from a map', () => {
    expect(decodeTransactionOutput(fromHex(`82${keyAddress}01`))).toMatchObject({
      format: 'array',
      datum: { kind: 'none' },
    })
    expect(decodeTransactionOutput(fromHex(`9f${keyAddress}01${hash32(3)}ff`))).toMatchObject({
      format: 'array',
      datum: { kind: 'hash', hash: new Uint8Array(32).fill(3) },
    })
    const bytes = fromHex(`a300${keyAddress}0101028200${hash32(3)}`)
    expect(decodeTransactionOutput(bytes)).toMatchObject({ format: 'map', bytes, datum: { kind: 'hash' } })
    const inline = decodeTransactionOutput(fromHex(`bf028201d81843d87980010100${keyAddress}ff`))
    expect(inline).toMatchObject({
      format: 'map',
      datum: { kind: 'inline', data: fromHex('d87980') },
      value: { lovelace: 1n },
    })
  })

  it.each([
    ['native', 0, `8200${hash28(5)}`, `8200${hash28(5)}`],
    ['PlutusV1', 1, '43010203', '010203'],
    ['PlutusV2', 2, '43010203', '010203'],
    ['PlutusV3', 3, '43010203', '010203'],
  ])('contains a %s script with its hash', (language, tag, encoded, bytes) => {
    const draft = {
      address: fromHex(keyAddress.slice(4)),
      lovelace: 1n,
      script: fromHex(`820${tag}${encoded}`),
    }
    const hash = blake2b224(fromHex(`0${tag}${bytes}`))
    expect(decodeTransactionOutput(encodeOutput(draft)).referenceScript).toMatchObject({
      language,
      bytes: fromHex(bytes),
      hash,
    })
  })

  it.each([
    [
      'a map whose length is encoded in eight bytes',
      `bb000000000000000200${keyAddress}0101`,
      'CBOR_UNEXPECTED_TYPE',
      '',
    ],
    ['a missing value', `a100${keyAddress}`, 'CBOR_MISSING_FIELD', ''],
    ['a missing address', 'a10101', 'CBOR_MISSING_FIELD', ''],
    ['an unknown field', `a300${keyAddress}01010400`, 'CBOR_UNKNOWN_FIELD', ''],
    ['a repeated field', `a300${keyAddress}01010102`, 'CBOR_DUPLICATE', 'value'],
    ['an array of one', `81${keyAddress}`, 'CBOR_UNEXPECTED_SIZE', ''],
    ['an array of four', `84${keyAddress}01${hash32(1)}00`, 'CBOR_UNEXPECTED_SIZE', ''],
    ['an indefinite array of four', `9f${keyAddress}01${hash32(1)}00ff`, 'CBOR_UNEXPECTED_SIZE', 'datum'],
    ['a chunked address', `825f${keyAddress}ff01`, 'CBOR_UNEXPECTED_TYPE', 'address'],
    ['a datum of kind 2', `a300${keyAddress}0101028202${hash32(1)}`, 'CBOR_UNKNOWN_VARIANT', 'datum'],
    ['an inline datum without its tag', `a300${keyAddress}01010282014100`, 'CBOR_UNEXPECTED_TYPE', 'datum'],
    [
      'an inline datum that is not Plutus data',
      `a300${keyAddress}0101028201d81841f4`,
      'CBOR_UNEXPECTED_TYPE',
      'datum',
    ],
    ['bytes after an inline datum', `a300${keyAddress}0101028201d818420000`, 'CBOR_TRAILING_BYTES', 'datum'],
    [
      'a script without its tag',
      `a300${keyAddress}01010382014100`,
      'CBOR_UNEXPECTED_TYPE',
      'referenceScript',
    ],
    [
      'a script of language 4',
      `a300${keyAddress}010103d81844820441ff`,
      'CBOR_UNKNOWN_VARIANT',
      'referenceScript',
    ],
    [
      'bytes after a script',
      `a300${keyAddress}010103d8184582014100ff`,
      'CBOR_TRAILING_BYTES',
      'referenceScript',
    ],
    ['trailing bytes', `82${keyAddress}0100`, 'CBOR_TRAILING_BYTES', ''],
  ])('is refused: %s', (_, hex, code, path) => {
    expect(() => decodeTransactionOutput(fromHex(hex))).toThrow(failure(code, path))
  })

  it('has a reference with one canonical encoding, which is decoded from any encoding', () => {
    const reference = { transactionId: new Uint8Array(32).fill(0xab), index: 300 }
    for (const index of [0, 23, 24, 255, 256, 65_535])
      expect(encodeOutputReference({ ...reference, index })).toEqual(
        encodeInput(reference.transactionId, index),
      )
    expect(encodeOutputReference(reference)).toEqual(encodeInput(reference.transactionId, 300))
    expect(decodeOutputReference(encodeOutputReference(reference))).toEqual(reference)
    expect(decodeOutputReference(fromHex(`9f${hash32(0xab)}1a0000012cff`))).toEqual(reference)
    expect(outputReferenceKey(reference)).toBe(`${'ab'.repeat(32)}#300`)
    expect(() => decodeOutputReference(fromHex(`82${hash32(1)}19ffff00`))).toThrow(
      failure('CBOR_TRAILING_BYTES'),
    )
  })
})
