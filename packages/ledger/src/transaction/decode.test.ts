import { CborWriter, concatBytes, fromHex, isDecodeError, toHex } from '@ratatosk/cbor'
import { encodeInput, encodeOutput } from '@ratatosk/fixtures'
import { describe, expect, it, test } from 'vitest'
import { blake2b224, blake2b256 } from '#crypto'
import { toLayer1Output, toOutput } from '../builder/index.js'
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
import {
  decodeLayer1Output,
  decodeLayer1Transaction,
  decodeNativeScript,
  decodeTransaction,
  decodeTransactionBody,
  decodeTransactionOutput,
  decodeUtxo,
  encodeUtxo,
} from './decode.js'
import { decodeOutputReference, encodeOutputReference, outputReferenceKey } from './output-reference.js'
import type { NativeScript } from './types.js'

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

const output = `a200581d60${'ab'.repeat(28)}011a000f4240`
const reference = `825820${'cd'.repeat(32)}07`

test('an output with its reference is read and written as CIP-30 has it', () => {
  const utxo = decodeUtxo(fromHex(`82${reference}${output}`))
  expect(utxo.reference).toEqual({ transactionId: fromHex('cd'.repeat(32)), index: 7 })
  expect(utxo.output.value.lovelace).toBe(1_000_000n)
  expect(toHex(encodeUtxo(utxo))).toBe(`82${reference}${output}`)
  // Of indefinite length.
  expect(decodeUtxo(fromHex(`9f${reference}${output}ff`))).toEqual(utxo)
})

test('what is no such pair is refused', () => {
  for (const hex of [
    '',
    '80',
    `81${reference}`,
    `83${reference}${output}00`,
    `82${reference}${output}00`,
    `82${output}${reference}`,
  ])
    expect(() => decodeUtxo(fromHex(hex))).toThrow(expect.toSatisfy(isDecodeError))
})

const address = fromHex(keyAddress.slice(4))
/** Layer 1 has transactions of 16 kB. */
const depths = [1025, 16_000]

const forms: { readonly [form: string]: (depth: number) => string } = {
  lists: (depth) => `${'81'.repeat(depth)}00`,
  'indefinite lists': (depth) => `${'9f'.repeat(depth)}${'ff'.repeat(depth)}`,
  keys: (depth) => `${'a1'.repeat(depth)}00${'00'.repeat(depth)}`,
  values: (depth) => `${'bf00'.repeat(depth)}00${'ff'.repeat(depth)}`,
  constructors: (depth) => `${'d87981'.repeat(depth)}00`,
  'general constructors': (depth) => `${'d8669f009f'.repeat(depth)}${'ffff'.repeat(depth)}`,
}

describe.each(depths)('%i levels', (depth) => {
  it.each(Object.entries(forms))('of %s are read as of layer 1, and refused of layer 2', (_, dataOf) => {
    const data = fromHex(dataOf(depth))
    const content = {
      address,
      value: { lovelace: 1n, assets: new Map() },
      datum: { kind: 'inline', data },
    } as const
    const output = encodeOutput({ address, lovelace: 1n, inlineDatum: data })
    for (const read of [decodeLayer1Output(output), toLayer1Output(content)])
      expect(read.datum.kind === 'inline' && toHex(read.datum.data)).toBe(toHex(data))
    expect(() => decodeTransactionOutput(output)).toThrow(failure('CBOR_TOO_DEEP', 'datum'))
    expect(() => toOutput(content)).toThrow(failure('CBOR_TOO_DEEP', 'datum'))

    const witnesses = toHex(new CborWriter().map(1).uint(4).array(1).raw(data).toBytes())
    const whole = transaction({ witnesses })
    const [datum] = decodeLayer1Transaction(whole).witnesses.datums.values()
    expect(datum && toHex(datum)).toBe(toHex(data))
    expect(() => decodeTransaction(whole)).toThrow(failure('CBOR_TOO_DEEP', 'witnesses.datums[0]'))
  })

  it('of native scripts are read as of layer 1, and refused of layer 2', () => {
    const bytes = fromHex(`${'820181'.repeat(depth)}8200${hash28(1)}`)
    const script = new CborWriter().array(2).uint(0).raw(bytes).toBytes()
    const output = encodeOutput({ address, lovelace: 1n, script })
    const { referenceScript } = decodeLayer1Output(output)
    expect(referenceScript && toHex(referenceScript.bytes)).toBe(toHex(bytes))
    let levels = 0
    let inner = referenceScript?.language === 'native' ? referenceScript.script : undefined
    while (inner !== undefined && 'scripts' in inner) {
      levels++
      inner = inner.scripts[0] as NativeScript
    }
    expect([levels, inner]).toEqual([depth, { kind: 'signature', keyHash: new Uint8Array(28).fill(1) }])
    expect(() => decodeTransactionOutput(output)).toThrow(failure('CBOR_TOO_DEEP', 'referenceScript'))
  })
})

it('metadata is limited in depth on both layers', () => {
  const deep = (depth: number) => transaction({ auxiliaryData: `a100${'81'.repeat(depth)}00` })
  for (const decode of [decodeTransaction, decodeLayer1Transaction]) {
    expect(decode(deep(1024)).auxiliaryData).toBeDefined()
    expect(() => decode(deep(1025))).toThrow(failure('CBOR_TOO_DEEP'))
  }
})

it.each([
  ['a list of another length', `83018200${hash28(1)}00`, 'CBOR_UNEXPECTED_SIZE', ''],
  ['an inner list of another length', `820182${`8200${hash28(1)}`}9f0180ff`, '', ''],
  [
    'an inner indefinite list that is too long',
    `820182${`8200${hash28(1)}`}9f018000ff`,
    'CBOR_UNEXPECTED_SIZE',
    '[1]',
  ],
  ['an unknown kind', '820181820281820600', 'CBOR_UNKNOWN_VARIANT', '[0][0]'],
  ['a key of 27 bytes', `8201818200581b${'00'.repeat(27)}`, 'CBOR_UNEXPECTED_SIZE', '[0]'],
  ['a number for a list', '82018183030105', 'CBOR_UNEXPECTED_TYPE', '[0]'],
])('a native script: %s', (_, hex, code, path) => {
  if (code === '') expect(decodeNativeScript(fromHex(hex)).language).toBe('native')
  else expect(() => decodeNativeScript(fromHex(hex))).toThrow(failure(code, path))
})
