import { concatBytes, fromHex, toHex } from '@ratatosk/cbor'
import { describe, expect, it } from 'vitest'
import { blake2b256 } from '#crypto'
import {
  account,
  anchor,
  body,
  failure,
  hash28,
  hash32,
  inBody,
  input,
  key,
  keyAddress,
  transaction,
} from '../test/conway-hex.js'
import { decodeTransaction, decodeTransactionBody } from './decode.js'

describe('decodeTransaction', () => {
  it('keeps the submitted bytes of every part, and hashes those', () => {
    const bodyBytes = fromHex(`bf0081${input(1, '1800')}018182${keyAddress}1b00000000000000010200ff`)
    const bytes = transaction({ body: bodyBytes, witnesses: 'bfff', auxiliaryData: 'a1016161' })
    const decoded = decodeTransaction(bytes)
    expect(decoded.bytes).toEqual(bytes)
    expect(decoded.body.bytes).toEqual(bodyBytes)
    expect(decoded.id).toEqual(blake2b256(bodyBytes))
    expect(decoded.witnesses.bytes).toEqual(fromHex('bfff'))
    expect(decoded.auxiliaryData).toEqual({ bytes: fromHex('a1016161'), scripts: [] })
    expect(decoded.body.inputs).toEqual([{ transactionId: new Uint8Array(32).fill(1), index: 0 }])
    expect(decoded.body.outputs[0]?.value).toEqual({ lovelace: 1n, assets: new Map() })
  })

  it.each([
    ['an array of three', `83${toHex(body())}a0f5`, 'CBOR_UNEXPECTED_SIZE', ''],
    ['an array of five', `85${toHex(body())}a0f5f600`, 'CBOR_UNEXPECTED_SIZE', ''],
    ['an indefinite array of five', `9f${toHex(body())}a0f5f600ff`, 'CBOR_UNEXPECTED_SIZE', ''],
    ['a number', '00', 'CBOR_UNEXPECTED_TYPE', ''],
    [
      'a flag that is not a boolean',
      toHex(transaction({ isValid: '01' })),
      'CBOR_UNEXPECTED_TYPE',
      'isValid',
    ],
    [
      'undefined auxiliary data',
      toHex(transaction({ auxiliaryData: 'f7' })),
      'CBOR_UNEXPECTED_TYPE',
      'auxiliaryData',
    ],
    ['trailing bytes', `${toHex(transaction({}))}00`, 'CBOR_TRAILING_BYTES', ''],
    ['truncated bytes', toHex(transaction({})).slice(0, -2), 'CBOR_END_OF_INPUT', 'auxiliaryData'],
  ])('refuses %s', (_, hex, code, path) => {
    expect(() => decodeTransaction(fromHex(hex))).toThrow(failure(code, path))
  })

  it('accepts an indefinite outer array, and a transaction that is marked invalid', () => {
    const indefinite = concatBytes(fromHex('9f'), transaction({ isValid: 'f4' }).subarray(1), fromHex('ff'))
    expect(decodeTransaction(indefinite).isValid).toBe(false)
  })

  it('decodes a Buffer into plain Uint8Arrays', () => {
    const decoded = decodeTransaction(Buffer.from(transaction({})))
    expect(decoded.body.bytes.constructor).toBe(Uint8Array)
  })
})

describe('a transaction body', () => {
  it.each([0, 1, 2])('requires field %i', (field) => {
    expect(inBody({ [field]: undefined })).toThrow(failure('CBOR_MISSING_FIELD'))
  })

  it.each([6, 10, 12, 23])('refuses the unknown field %i', (field) => {
    expect(inBody({ [field]: '00' })).toThrow(failure('CBOR_UNKNOWN_FIELD'))
  })

  it('refuses a repeated field, even in another encoding', () => {
    const twice = concatBytes(fromHex('a4'), body().subarray(1), fromHex('180202'))
    expect(() => decodeTransactionBody(twice)).toThrow(failure('CBOR_DUPLICATE'))
  })

  it('may have no inputs and no outputs, which the rules validate', () => {
    expect(inBody({ 0: '80', 1: '80', 2: '00' })()).toMatchObject({ inputs: [], outputs: [], fee: 0n })
  })

  it.each([
    [4, 'certificates', '80'],
    [5, 'withdrawals', 'a0'],
    [9, 'mint', 'a0'],
    [13, 'collateralInputs', 'd9010280'],
    [14, 'requiredSigners', '80'],
    [18, 'referenceInputs', '9fff'],
    [19, 'votingProcedures', 'a0'],
    [20, 'proposalProcedures', '80'],
    [22, 'treasuryDonation', '00'],
  ])('refuses field %i (%s) if it is present but empty', (field, path, hex) => {
    expect(inBody({ [field]: hex })).toThrow(failure('CBOR_EMPTY', path))
  })

  it.each([
    [0, 'inputs[1]', `82${input(1)}${input(1, '1800')}`],
    [0, 'inputs[1]', `d9010282${input(1)}${input(1)}`],
    [4, 'certificates[1]', `828200${key(1)}8200${key(1)}`],
    [4, 'certificates[1]', `828200${key(1)}9f1800${key(1)}ff`],
    [13, 'collateralInputs[1]', `82${input(1)}${input(1)}`],
    [14, 'requiredSigners[2]', `83${hash28(1)}${hash28(2)}${hash28(1)}`],
    [18, 'referenceInputs[1]', `82${input(1)}${input(1)}`],
    [20, 'proposalProcedures[1]', `828400${account(1)}8106${anchor}8400${account(1)}8106${anchor}`],
  ])('refuses a repeated member in the set of field %i (%s)', (field, path, hex) => {
    expect(inBody({ [field]: hex })).toThrow(failure('CBOR_DUPLICATE', path))
  })

  it('accepts equal outputs, and reference inputs that are also spent', () => {
    const outputs = `8282${keyAddress}0182${keyAddress}01`
    expect(inBody({ 1: outputs, 18: `81${input(1)}` })().outputs).toHaveLength(2)
  })

  it('decodes the simple fields', () => {
    const fields = {
      3: '1bffffffffffffffff',
      7: hash32(7),
      8: '05',
      11: hash32(11),
      14: `d9010281${hash28(14)}`,
      15: '01',
      17: '11',
      21: '00',
      22: '16',
    }
    expect(inBody(fields)()).toMatchObject({
      validityInterval: { invalidBefore: 5n, invalidHereafter: 2n ** 64n - 1n },
      auxiliaryDataHash: new Uint8Array(32).fill(7),
      scriptDataHash: new Uint8Array(32).fill(11),
      requiredSigners: [new Uint8Array(28).fill(14)],
      networkId: 1,
      totalCollateral: 17n,
      currentTreasury: 0n,
      treasuryDonation: 22n,
    })
  })

  it.each([
    ['a fee that is null', { 2: 'f6' }, 'CBOR_UNEXPECTED_TYPE', 'fee'],
    ['a negative fee', { 2: '20' }, 'CBOR_UNEXPECTED_TYPE', 'fee'],
    ['a fee over 64 bits', { 2: 'c249010000000000000000' }, 'CBOR_UNEXPECTED_TYPE', 'fee'],
    ['network 2', { 15: '02' }, 'CBOR_OUT_OF_RANGE', 'networkId'],
    ['a short hash', { 7: '4107' }, 'CBOR_UNEXPECTED_SIZE', 'auxiliaryDataHash'],
    ['a chunked hash', { 7: `5f${hash32(1)}ff` }, 'CBOR_UNEXPECTED_TYPE', 'auxiliaryDataHash'],
    ['an input of one item', { 0: `8181${hash32(1)}` }, 'CBOR_UNEXPECTED_SIZE', 'inputs[0]'],
    ['an input of three items', { 0: `8183${hash32(1)}0000` }, 'CBOR_UNEXPECTED_SIZE', 'inputs[0]'],
    ['an index over 16 bits', { 0: `81${input(1, '1a00010000')}` }, 'CBOR_OUT_OF_RANGE', 'inputs[0]'],
    ['a set with another tag', { 0: `d9010381${input(1)}` }, 'CBOR_UNEXPECTED_TAG', 'inputs'],
    ['outputs with the tag of a set', { 1: 'd9010280' }, 'CBOR_UNEXPECTED_TYPE', 'outputs'],
    ['a repeated withdrawal', { 5: `a2${account(1)}00${account(1)}01` }, 'CBOR_DUPLICATE', 'withdrawals'],
    ['a withdrawal from a payment address', { 5: `a1${keyAddress}00` }, 'ADDRESS_WRONG_KIND', 'withdrawals'],
    [
      'a collateral return to a reward address',
      { 16: `82${account(1)}01` },
      'ADDRESS_WRONG_KIND',
      'collateralReturn.address',
    ],
  ])('refuses %s', (_, fields, code, path) => {
    expect(inBody(fields)).toThrow(failure(code, path))
  })

  it('decodes withdrawals, including withdrawals of zero', () => {
    expect(
      inBody({ 5: `a2${account(1)}00${account(2)}05` })().withdrawals.map(({ lovelace }) => lovelace),
    ).toEqual([0n, 5n])
  })
})
