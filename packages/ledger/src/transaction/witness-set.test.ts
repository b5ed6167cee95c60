import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../bytes.js'
import { blake2b224, blake2b256 } from '../crypto/blake2b.js'
import { failure, hash28, inAuxiliaryData, inWitnesses } from '../test/conway-hex.js'

const signature = `5840${'05'.repeat(64)}`
const publicKey = (fill: number): string => `5820${fill.toString(16).padStart(2, '0').repeat(32)}`
const witness = (fill: number): string => `82${publicKey(fill)}${signature}`
const nested = (depth: number): string => `${'81'.repeat(depth)}00`

describe('a witness set', () => {
  it('holds key witnesses, the same one twice too', () => {
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

  it('holds bootstrap witnesses, with a chain code of any length', () => {
    const hex = `a1028184${publicKey(1)}${signature}410741a0`
    expect(inWitnesses(hex)().witnesses.bootstrapWitnesses).toMatchObject([
      { chainCode: Uint8Array.of(7), attributes: Uint8Array.of(0xa0) },
    ])
  })

  it('holds scripts under their hashes', () => {
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

  it('holds datums by hash, the same one twice too, with the bytes of the field', () => {
    const { datums, datumsBytes } = inWitnesses('a104d9010283d8798000d87980')().witnesses
    expect(datums).toEqual(
      new Map(['d87980', '00'].map((hex) => [toHex(blake2b256(fromHex(hex))), fromHex(hex)])),
    )
    expect(datumsBytes).toEqual(fromHex('d9010283d8798000d87980'))
  })

  it('holds redeemers as a list or as a map, the last of two for one thing', () => {
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

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('leaves collection %i out instead of giving nothing', (field) => {
    expect(inWitnesses(`a10${field}80`)).toThrow(failure('empty'))
    if (field === 5) expect(inWitnesses('a105a0')).toThrow(failure('empty', 'witnesses.redeemers'))
  })

  it.each([
    ['field 8', 'a10880', 'unknown-field', 'witnesses'],
    ['a field twice', `a20081${witness(1)}0081${witness(1)}`, 'duplicate', 'witnesses'],
    [
      'a key of 31 bytes',
      `a1008182581f${'00'.repeat(31)}${signature}`,
      'unexpected-size',
      'witnesses.keyWitnesses[0]',
    ],
    [
      'a signature of 63 bytes',
      `a1008182${publicKey(1)}583f${'00'.repeat(63)}`,
      'unexpected-size',
      'witnesses.keyWitnesses[0]',
    ],
    [
      'a witness of three items',
      `a1008183${publicKey(1)}${signature}00`,
      'unexpected-size',
      'witnesses.keyWitnesses[0]',
    ],
    ['a Plutus script twice', 'a1038241014101', 'duplicate', 'witnesses.plutusV1Scripts[1]'],
    ['a Plutus script in chunks', 'a107815f4101ff', 'unexpected-type', 'witnesses.plutusV3Scripts[0]'],
    ['a native script of kind 6', 'a10181820600', 'unknown-variant', 'witnesses.nativeScripts[0]'],
    [
      'a native script with an item too many',
      `a101818300${hash28(1)}00`,
      'unexpected-size',
      'witnesses.nativeScripts[0]',
    ],
    [
      'a native script that wants 2^63 of nothing',
      'a1018183031b800000000000000080',
      'out-of-range',
      'witnesses.nativeScripts[0]',
    ],
    ['a redeemer of purpose 6', 'a1058184060000820000', 'unknown-variant', 'witnesses.redeemers[0]'],
    [
      'a redeemer index over 32 bits',
      'a1058184001b000000010000000000820000',
      'out-of-range',
      'witnesses.redeemers[0]',
    ],
    [
      'a map of redeemers whose size takes eight bytes',
      'a105bb000000000000000182000082d87980820102',
      'unexpected-type',
      'witnesses.redeemers',
    ],
    ['a redeemer of three items', 'a1058183000000', 'unexpected-size', 'witnesses.redeemers[0]'],
    [
      'a redeemer in a map whose pair is indefinite',
      'a105a18200009f00820000ff',
      'unexpected-size',
      'witnesses.redeemers[0]',
    ],
    [
      'execution units over 63 bits',
      'a1058184000000821b800000000000000000',
      'out-of-range',
      'witnesses.redeemers[0]',
    ],
    ['datums that are a map', 'a104a10000', 'unexpected-type', 'witnesses.datums'],
  ])('is not: %s', (_, hex, code, path) => {
    expect(inWitnesses(hex)).toThrow(failure(code, path))
  })

  it('has native scripts as deep as the bound allows, and no deeper', () => {
    const all = (depth: number): string => `${'820181'.repeat(depth)}${`8200${hash28(1)}`}`
    expect(inWitnesses(`a10181${all(511)}`)().witnesses.scripts).toHaveLength(1)
    expect(inWitnesses(`a10181${all(512)}`)).toThrow(failure('too-deep', 'witnesses.nativeScripts[0]'))
  })
})

describe('Plutus data', () => {
  const datum = (hex: string) => inWitnesses(`a10481${hex}`)

  it.each([
    ['integers', '8500201bffffffffffffffff3bffffffffffffffff1800'],
    ['bignums, in chunks too, also of nothing', '84c24101c35f41014102ffc240c25fff'],
    ['byte strings', `83405840${'00'.repeat(64)}5f5840${'00'.repeat(64)}5840${'00'.repeat(64)}40ff`],
    ['lists', '839f0102ff809b000000000000000100'],
    ['maps with a key twice', 'a200010002'],
    ['indefinite maps', 'bf0001ff'],
    ['constructors', '86d87980d87f9f00ffd9050080d905788100d866820080d8669f1bffffffffffffffff8100ff'],
    ['tags of any width', '81da0000007980'],
  ])('may be: %s', (_, hex) => {
    expect([...datum(hex)().witnesses.datums.values()]).toEqual([fromHex(hex)])
  })

  it.each([
    ['a text', '6161', 'unexpected-type'],
    ['a boolean', 'f5', 'unexpected-type'],
    ['null', 'f6', 'unexpected-type'],
    ['a float', 'f93c00', 'unexpected-type'],
    ['a byte string of 65 bytes', `5841${'00'.repeat(65)}`, 'out-of-range'],
    ['a chunk of 65 bytes', `5f5841${'00'.repeat(65)}ff`, 'out-of-range'],
    ['a bignum of 65 bytes', `c25841${'00'.repeat(65)}`, 'out-of-range'],
    ['a bignum by a wide tag', 'd8024101', 'unexpected-tag'],
    ['a bignum of a number', 'c201', 'unexpected-type'],
    ['tag 120', 'd87880', 'unexpected-tag'],
    ['tag 128', 'd88080', 'unexpected-tag'],
    ['tag 1401', 'd9057980', 'unexpected-tag'],
    ['the tag of sets', 'd9010280', 'unexpected-tag'],
    ['a constructor of no list', 'd87900', 'unexpected-type'],
    ['a general constructor with a negative number', 'd866822080', 'unexpected-type'],
    ['a general constructor of three items', 'd86683008000', 'unexpected-size'],
    ['an indefinite general constructor of three items', 'd8669f008000ff', 'unexpected-size'],
    ['a list too deep', nested(1024 + 1), 'too-deep'],
  ])('may not be: %s', (_, hex, code) => {
    expect(datum(hex)).toThrow(failure(code, 'witnesses.datums[0]'))
  })

  it('may be as deep as the bound allows', () => {
    expect(datum(nested(1024))().witnesses.datums.size).toBe(1)
  })
})

describe('auxiliary data', () => {
  it.each([
    ['a map', 'a201616102a0', 0],
    ['an indefinite map', 'bf016161ff', 0],
    ['an array with scripts', `82a0818200${hash28(1)}`, 1],
    ['a tagged map with everything', `d90103a500a10161610181820418640281410103814102048241034103`, 5],
    ['a tagged map with nothing', 'd90103a0', 0],
    ['lists of no scripts', 'd90103a40180028003800480', 0],
    ['metadata nested, a key of a metadatum twice', 'a101a2008201a0006161', 0],
    [
      'strings of 64 bytes, in chunks too',
      `a2015840${'00'.repeat(64)}027f7820${'61'.repeat(32)}7820${'61'.repeat(32)}ff`,
      0,
    ],
    ['numbers of 64 bits and a sign', 'a101823bffffffffffffffff1bffffffffffffffff', 0],
  ])('may be: %s', (_, hex, scripts) => {
    const { auxiliaryData } = inAuxiliaryData(hex)()
    expect(auxiliaryData?.bytes).toEqual(fromHex(hex))
    expect(auxiliaryData?.scripts).toHaveLength(scripts)
  })

  it.each([
    ['a label twice', 'a20100180100', 'duplicate', 'auxiliaryData'],
    ['a label that is no number', 'a1616100', 'unexpected-type', 'auxiliaryData'],
    ['a negative label', 'a12000', 'unexpected-type', 'auxiliaryData'],
    ['a byte string of 65 bytes', `a1015841${'00'.repeat(65)}`, 'out-of-range', 'auxiliaryData[1]'],
    ['a text of 65 bytes', `a1017841${'61'.repeat(65)}`, 'out-of-range', 'auxiliaryData[1]'],
    ['chunks of 65 bytes', `a1015f5840${'00'.repeat(64)}4100ff`, 'out-of-range', 'auxiliaryData[1]'],
    ['a text that is no UTF-8', 'a10161ff', 'invalid-utf8', 'auxiliaryData[1]'],
    ['a character cut in two chunks', 'a1017f61c361bcff', 'invalid-utf8', 'auxiliaryData[1]'],
    ['a bignum', 'a101c24101', 'unexpected-type', 'auxiliaryData[1]'],
    ['a boolean', 'a101f5', 'unexpected-type', 'auxiliaryData[1]'],
    ['an array of one', '81a0', 'unexpected-size', 'auxiliaryData'],
    ['another tag', 'd90102a0', 'unexpected-tag', 'auxiliaryData'],
    ['field 5', 'd90103a10580', 'unknown-field', 'auxiliaryData'],
    ['a field twice', 'd90103a200a000a0', 'duplicate', 'auxiliaryData'],
    ['scripts under the tag of sets', 'd90103a101d9010280', 'unexpected-type', 'auxiliaryData.nativeScripts'],
    ['metadata too deep', `a101${nested(1025)}`, 'too-deep', 'auxiliaryData[1]'],
  ])('may not be: %s', (_, hex, code, path) => {
    expect(inAuxiliaryData(hex)).toThrow(failure(code, path))
  })
})
