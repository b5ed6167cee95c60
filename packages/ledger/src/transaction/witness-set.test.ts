import { fromHex, toHex } from '@ratatosk/cbor'
import { describe, expect, it } from 'vitest'
import { blake2b224, blake2b256 } from '#crypto'
import { failure, hash28, inAuxiliaryData, inWitnesses } from '../test/conway-hex.js'

const signature = `5840${'05'.repeat(64)}`
const publicKey = (fill: number): string => `5820${fill.toString(16).padStart(2, '0').repeat(32)}`
const witness = (fill: number): string => `82${publicKey(fill)}${signature}`
const nested = (depth: number): string => `${'81'.repeat(depth)}00`

describe('a witness set', () => {
  it('contains key witnesses, including repeated ones', () => {
    for (const list of [
      `82${witness(1)}${witness(1)}`,
      `d9010282${witness(1)}${witness(1)}`,
      `9f${witness(1)}${witness(1)}ff`,
    ]) {
      expect(inWitnesses(`a100${list}`)().witnesses.keyWitnesses).toEqual(
        Array(2).fill({ publicKey: new Uint8Array(32).fill(1), signature: new Uint8Array(64).fill(5) }),
      )
    }
  })

  it('contains bootstrap witnesses with chain codes of any length', () => {
    const hex = `a1028184${publicKey(1)}${signature}410741a0`
    expect(inWitnesses(hex)().witnesses.bootstrapWitnesses).toMatchObject([
      { chainCode: Uint8Array.of(7), attributes: Uint8Array.of(0xa0) },
    ])
  })

  it('contains scripts with their hashes', () => {
    const native = `8303028282051864${`8200${hash28(1)}`}`
    const set = `a40181${native}0381410106d90102824102410307814103`
    const { scripts } = inWitnesses(set)().witnesses
    expect(scripts.map(({ language }) => language)).toEqual([
      'native',
      'PlutusV1',
      'PlutusV2',
      'PlutusV2',
      'PlutusV3',
    ])
    expect(scripts[0]).toEqual({
      language: 'native',
      bytes: fromHex(native),
      hash: blake2b224(fromHex(`00${native}`)),
      script: {
        kind: 'at-least',
        required: 2n,
        scripts: [
          { kind: 'invalid-hereafter', slot: 100n },
          { kind: 'signature', keyHash: new Uint8Array(28).fill(1) },
        ],
      },
    })
    expect(scripts[4]?.hash).toEqual(blake2b224(fromHex('0303')))
  })

  it('contains datums by hash, including repeated ones, and the bytes of the field', () => {
    const { datums, datumsBytes } = inWitnesses('a104d9010283d8798000d87980')().witnesses
    expect(datums).toEqual(
      new Map(['d87980', '00'].map((hex) => [toHex(blake2b256(fromHex(hex))), fromHex(hex)])),
    )
    expect(datumsBytes).toEqual(fromHex('d9010283d8798000d87980'))
  })

  it('contains redeemers as a list or as a map; the last of two with the same pointer counts', () => {
    const redeemers = [
      { purpose: 'spend', index: 0, data: fromHex('d87980'), executionUnits: { memory: 1n, steps: 2n } },
      {
        purpose: 'propose',
        index: 2 ** 32 - 1,
        data: fromHex('40'),
        executionUnits: { memory: 0n, steps: 2n ** 63n - 1n },
      },
    ]
    const units = '82001b7fffffffffffffff'
    for (const hex of [
      `82840000d87980820102${`84051affffffff40${units}`}`,
      `9f840000d87980820102${`9f051affffffff40${units}`}ffff`,
      `a2820000${`82d87980820102`}${`82051affffffff`}${`8240${units}`}`,
      `bf9f0000ff${`82d87980820102`}${`82051affffffff`}${`8240${units}`}ff`,
      `8384000000820000840000d87980820102${`84051affffffff40${units}`}`,
    ]) {
      const { witnesses } = inWitnesses(`a105${hex}`)()
      expect(witnesses.redeemers).toEqual(redeemers)
      expect(witnesses.redeemersBytes).toEqual(fromHex(hex))
    }
  })

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('refuses collection %i if it is present but empty', (field) => {
    expect(inWitnesses(`a10${field}80`)).toThrow(failure('CBOR_EMPTY'))
    if (field === 5) expect(inWitnesses('a105a0')).toThrow(failure('CBOR_EMPTY', 'witnesses.redeemers'))
  })

  it.each([
    ['field 8', 'a10880', 'CBOR_UNKNOWN_FIELD', 'witnesses'],
    ['a repeated field', `a20081${witness(1)}0081${witness(1)}`, 'CBOR_DUPLICATE', 'witnesses'],
    [
      'a key of 31 bytes',
      `a1008182581f${'00'.repeat(31)}${signature}`,
      'CBOR_UNEXPECTED_SIZE',
      'witnesses.keyWitnesses[0]',
    ],
    [
      'a signature of 63 bytes',
      `a1008182${publicKey(1)}583f${'00'.repeat(63)}`,
      'CBOR_UNEXPECTED_SIZE',
      'witnesses.keyWitnesses[0]',
    ],
    [
      'a witness with three items',
      `a1008183${publicKey(1)}${signature}00`,
      'CBOR_UNEXPECTED_SIZE',
      'witnesses.keyWitnesses[0]',
    ],
    ['a repeated Plutus script', 'a1038241014101', 'CBOR_DUPLICATE', 'witnesses.plutusV1Scripts[1]'],
    ['a chunked Plutus script', 'a107815f4101ff', 'CBOR_UNEXPECTED_TYPE', 'witnesses.plutusV3Scripts[0]'],
    ['a native script of kind 6', 'a10181820600', 'CBOR_UNKNOWN_VARIANT', 'witnesses.nativeScripts[0]'],
    [
      'a native script with an extra item',
      `a101818300${hash28(1)}00`,
      'CBOR_UNEXPECTED_SIZE',
      'witnesses.nativeScripts[0]',
    ],
    [
      'a native script that requires 2^63 of an empty list',
      'a1018183031b800000000000000080',
      'CBOR_OUT_OF_RANGE',
      'witnesses.nativeScripts[0]',
    ],
    ['a redeemer of purpose 6', 'a1058184060000820000', 'CBOR_UNKNOWN_VARIANT', 'witnesses.redeemers[0]'],
    [
      'a redeemer index over 32 bits',
      'a1058184001b000000010000000000820000',
      'CBOR_OUT_OF_RANGE',
      'witnesses.redeemers[0]',
    ],
    [
      'a map of redeemers whose length is encoded in eight bytes',
      'a105bb000000000000000182000082d87980820102',
      'CBOR_UNEXPECTED_TYPE',
      'witnesses.redeemers',
    ],
    ['a redeemer with three items', 'a1058183000000', 'CBOR_UNEXPECTED_SIZE', 'witnesses.redeemers[0]'],
    [
      'a redeemer in a map with an indefinite pair',
      'a105a18200009f00820000ff',
      'CBOR_UNEXPECTED_SIZE',
      'witnesses.redeemers[0]',
    ],
    [
      'execution units over 63 bits',
      'a1058184000000821b800000000000000000',
      'CBOR_OUT_OF_RANGE',
      'witnesses.redeemers[0]',
    ],
    ['datums as a map', 'a104a10000', 'CBOR_UNEXPECTED_TYPE', 'witnesses.datums'],
  ])('refuses %s', (_, hex, code, path) => {
    expect(inWitnesses(hex)).toThrow(failure(code, path))
  })

  it('accepts native scripts up to the depth limit', () => {
    const all = (depth: number): string => `${'820181'.repeat(depth)}${`8200${hash28(1)}`}`
    expect(inWitnesses(`a10181${all(511)}`)().witnesses.scripts).toHaveLength(1)
    expect(inWitnesses(`a10181${all(512)}`)).toThrow(failure('CBOR_TOO_DEEP', 'witnesses.nativeScripts[0]'))
  })
})

describe('Plutus data', () => {
  const datum = (hex: string) => inWitnesses(`a10481${hex}`)

  it.each([
    ['integers', '8500201bffffffffffffffff3bffffffffffffffff1800'],
    ['bignums, chunked and empty ones included', '84c24101c35f41014102ffc240c25fff'],
    ['byte strings', `83405840${'00'.repeat(64)}5f5840${'00'.repeat(64)}5840${'00'.repeat(64)}40ff`],
    ['lists', '839f0102ff809b000000000000000100'],
    ['maps with a repeated key', 'a200010002'],
    ['indefinite maps', 'bf0001ff'],
    ['constructors', '86d87980d87f9f00ffd9050080d905788100d866820080d8669f1bffffffffffffffff8100ff'],
    ['tags of any width', '81da0000007980'],
  ])('accepts %s', (_, hex) => {
    expect([...datum(hex)().witnesses.datums.values()]).toEqual([fromHex(hex)])
  })

  it.each([
    ['a text', '6161', 'CBOR_UNEXPECTED_TYPE'],
    ['a boolean', 'f5', 'CBOR_UNEXPECTED_TYPE'],
    ['null', 'f6', 'CBOR_UNEXPECTED_TYPE'],
    ['a float', 'f93c00', 'CBOR_UNEXPECTED_TYPE'],
    ['a byte string of 65 bytes', `5841${'00'.repeat(65)}`, 'CBOR_OUT_OF_RANGE'],
    ['a chunk of 65 bytes', `5f5841${'00'.repeat(65)}ff`, 'CBOR_OUT_OF_RANGE'],
    ['a bignum of 65 bytes', `c25841${'00'.repeat(65)}`, 'CBOR_OUT_OF_RANGE'],
    ['a bignum with a wide tag', 'd8024101', 'CBOR_UNEXPECTED_TAG'],
    ['a bignum that contains a number', 'c201', 'CBOR_UNEXPECTED_TYPE'],
    ['tag 120', 'd87880', 'CBOR_UNEXPECTED_TAG'],
    ['tag 128', 'd88080', 'CBOR_UNEXPECTED_TAG'],
    ['tag 1401', 'd9057980', 'CBOR_UNEXPECTED_TAG'],
    ['the tag of sets', 'd9010280', 'CBOR_UNEXPECTED_TAG'],
    ['a constructor without a list', 'd87900', 'CBOR_UNEXPECTED_TYPE'],
    ['a general constructor with a negative number', 'd866822080', 'CBOR_UNEXPECTED_TYPE'],
    ['a general constructor of three items', 'd86683008000', 'CBOR_UNEXPECTED_SIZE'],
    ['an indefinite general constructor of three items', 'd8669f008000ff', 'CBOR_UNEXPECTED_SIZE'],
    ['a list beyond the depth limit', nested(1024 + 1), 'CBOR_TOO_DEEP'],
  ])('refuses %s', (_, hex, code) => {
    expect(datum(hex)).toThrow(failure(code, 'witnesses.datums[0]'))
  })

  it('accepts data up to the depth limit', () => {
    expect(datum(nested(1024))().witnesses.datums.size).toBe(1)
  })
})

describe('auxiliary data', () => {
  it.each([
    ['a map', 'a201616102a0', 0],
    ['an indefinite map', 'bf016161ff', 0],
    ['an array with scripts', `82a0818200${hash28(1)}`, 1],
    ['a tagged map with all fields', `d90103a500a10161610181820418640281410103814102048241034103`, 5],
    ['an empty tagged map', 'd90103a0', 0],
    ['empty lists of scripts', 'd90103a40180028003800480', 0],
    ['nested metadata with a repeated key', 'a101a2008201a0006161', 0],
    [
      'strings of 64 bytes, chunked ones included',
      `a2015840${'00'.repeat(64)}027f7820${'61'.repeat(32)}7820${'61'.repeat(32)}ff`,
      0,
    ],
    ['numbers of 64 bits with a sign', 'a101823bffffffffffffffff1bffffffffffffffff', 0],
  ])('accepts %s', (_, hex, scripts) => {
    const { auxiliaryData } = inAuxiliaryData(hex)()
    expect(auxiliaryData?.bytes).toEqual(fromHex(hex))
    expect(auxiliaryData?.scripts).toHaveLength(scripts)
  })

  it.each([
    ['a repeated label', 'a20100180100', 'CBOR_DUPLICATE', 'auxiliaryData'],
    ['a label that is not a number', 'a1616100', 'CBOR_UNEXPECTED_TYPE', 'auxiliaryData'],
    ['a negative label', 'a12000', 'CBOR_UNEXPECTED_TYPE', 'auxiliaryData'],
    ['a byte string of 65 bytes', `a1015841${'00'.repeat(65)}`, 'CBOR_OUT_OF_RANGE', 'auxiliaryData[1]'],
    ['a text of 65 bytes', `a1017841${'61'.repeat(65)}`, 'CBOR_OUT_OF_RANGE', 'auxiliaryData[1]'],
    ['chunks of 65 bytes', `a1015f5840${'00'.repeat(64)}4100ff`, 'CBOR_OUT_OF_RANGE', 'auxiliaryData[1]'],
    ['a text that is not UTF-8', 'a10161ff', 'CBOR_INVALID_UTF8', 'auxiliaryData[1]'],
    [
      'a character that is split between two chunks',
      'a1017f61c361bcff',
      'CBOR_INVALID_UTF8',
      'auxiliaryData[1]',
    ],
    ['a bignum', 'a101c24101', 'CBOR_UNEXPECTED_TYPE', 'auxiliaryData[1]'],
    ['a boolean', 'a101f5', 'CBOR_UNEXPECTED_TYPE', 'auxiliaryData[1]'],
    ['an array of one', '81a0', 'CBOR_UNEXPECTED_SIZE', 'auxiliaryData'],
    ['another tag', 'd90102a0', 'CBOR_UNEXPECTED_TAG', 'auxiliaryData'],
    ['field 5', 'd90103a10580', 'CBOR_UNKNOWN_FIELD', 'auxiliaryData'],
    ['a repeated field', 'd90103a200a000a0', 'CBOR_DUPLICATE', 'auxiliaryData'],
    [
      'scripts with the tag of a set',
      'd90103a101d9010280',
      'CBOR_UNEXPECTED_TYPE',
      'auxiliaryData.nativeScripts',
    ],
    ['metadata beyond the depth limit', `a101${nested(1025)}`, 'CBOR_TOO_DEEP', 'auxiliaryData[1]'],
  ])('refuses %s', (_, hex, code, path) => {
    expect(inAuxiliaryData(hex)).toThrow(failure(code, path))
  })
})
