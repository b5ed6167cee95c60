import { toHex } from '@ratatosk/cbor'
import { decodeBech32Address } from '@ratatosk/ledger'
import { describe, expect, it } from 'vitest'
import { type AdditionalOutput, readAdditionalOutputs, writeAdditionalOutput } from './additional-outputs.js'

const address = 'addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv'
const id = 'cd'.repeat(32)
const policy = 'ab'.repeat(28)
const key = '07d781fe8e33883e371f9550c2f1087321fc32e06e80b65e349ccb02'

/** The output of a pair, as Blockfrost reads it. */
function pair(output: object) {
  const set = [
    [
      { txId: id, index: 1 },
      { address, value: { coins: 1 }, ...output },
    ],
  ]
  const read = readAdditionalOutputs(set, 'set', { dialect: 'blockfrost', maxValueSize: 5000 })
  return read.get(`${id}#1`)
}

it.each([
  { coins: 5, assets: { [`${policy}.cafe`]: 7 } },
  { coins: '5', assets: { [`${policy}cafe`]: '7' } },
  { coins: 5, [policy]: { cafe: 7 } },
  { ada: { lovelace: 5 }, [policy.toUpperCase()]: { CAFE: 7n } },
])('reads the value %o', (value) => {
  expect(pair({ value })?.value).toEqual({
    lovelace: 5n,
    assets: new Map([[policy, new Map([['cafe', 7n]])]]),
  })
})

it.each([
  { coins: 5, ada: { lovelace: 5 } },
  { coins: 5, assets: {}, [policy]: { cafe: 7 } },
  { coins: 5, asset: {} },
  { coin: 5 },
  { coins: '' },
  { coins: '0x5' },
  { coins: '05' },
  { coins: 1.5 },
  { coins: -1 },
  { coins: 2n ** 64n },
  { coins: true },
  { coins: 5, assets: { [policy]: null } },
  { coins: 5, assets: { [`${policy}.${'00'.repeat(33)}`]: 7 } },
  { coins: 5, assets: { [`${policy}.cafe`]: 7, [`${policy}CAFE`]: 7 } },
  5,
])('refuses the value %o', (value) => {
  expect(() => pair({ value })).toThrow(/set\[0\]\[1\]/)
})

const plutus = { language: 'PlutusV3', bytes: '450101002499' }
const signature = { language: 'native', bytes: `8200581c${key}` }
const locked = { language: 'native', bytes: `830302828200581c${key}82041907d0` }

it.each([
  [{ 'plutus:v3': plutus.bytes }, plutus],
  [{ language: 'plutus:v3', cbor: plutus.bytes }, plutus],
  [`820346${plutus.bytes}`, plutus],
  [`d81848820346${plutus.bytes}`.replace('48', '49'), plutus],
  [{ native: key }, signature],
  [{ native: signature.bytes }, signature],
  [{ native: { type: 'sig', keyHash: key } }, signature],
  [{ language: 'native', json: { clause: 'signature', from: key } }, signature],
  [{ language: 'native', cbor: signature.bytes, json: { clause: 'signature', from: key } }, signature],
  [{ native: { 2: [key, { startsAt: 2000 }] } }, locked],
  [
    {
      language: 'native',
      json: {
        clause: 'some',
        atLeast: 2,
        from: [
          { clause: 'signature', from: key },
          { clause: 'after', slot: 2000 },
        ],
      },
    },
    locked,
  ],
  [
    {
      native: {
        type: 'atLeast',
        required: 2,
        scripts: [
          { type: 'sig', keyHash: key },
          { type: 'after', slot: 2000 },
        ],
      },
    },
    locked,
  ],
])('reads the script %j', (script, expected) => {
  const read = pair({ script })?.referenceScript
  expect(read && { language: read.language, bytes: toHex(read.bytes) }).toEqual(expected)
})

it.each([
  [{ 'plutus:V3': plutus.bytes }, /unknown field "plutus:V3"/],
  [{ 'plutus:v3': plutus.bytes, 'plutus:v2': plutus.bytes }, /one language/],
  [{}, /one language/],
  [{ language: 'plutus:v3', cbr: plutus.bytes }, /unknown field "cbr"/],
  [{ language: 'plutus:v4', cbor: plutus.bytes }, /language must be one of/],
  [{ language: 'plutus:v3', json: {} }, /only native scripts/],
  [{ language: 'native' }, /must be a native script/],
  [{ native: { clause: 'never', from: key } }, /unknown clause/],
  [{ native: { any: key } }, /must be an array/],
  ['82034', /even number/],
  ['8205', /not a valid output/],
  [7, /must be an object/],
])('refuses the script %j', (script, message) => {
  expect(() => pair({ script })).toThrow(message)
})

it('reads a datum, its hash under each name, and 32 bytes that are no Plutus data as a hash', () => {
  const hash = `ff${'00'.repeat(31)}`
  expect(pair({ datum: 'd87980', script: null })?.datum.kind).toBe('inline')
  for (const output of [{ datumHash: hash }, { datum_hash: hash, datum: null }, { datum: hash }]) {
    expect(pair(output)?.datum).toMatchObject({ kind: 'hash' })
  }
  for (const output of [
    { datum: { int: 1 } },
    { datum: '' },
    { datumHash: 'ff' },
    { datumHash: hash, datum: 'd87980' },
    { datumHash: hash, datum_hash: id },
  ]) {
    expect(() => pair(output)).toThrow(/set\[0\]\[1\]/)
  }
})

it('takes an output twice, but not two outputs of one reference', () => {
  const entry = (lovelace: number) => ({
    transaction: { id },
    index: 0,
    address,
    value: { ada: { lovelace } },
  })
  const read = (...entries: object[]) =>
    readAdditionalOutputs(entries, 'set', { dialect: 'ogmios', maxValueSize: 5000 })
  expect(read(entry(1), entry(1)).size).toBe(1)
  expect(() => read(entry(1), entry(2))).toThrow('set[1] contradicts')
})

describe('additional output', () => {
  const maxValueSize = 5000
  const address = decodeBech32Address('addr_test1vpu5vlrf4xkxv2qpwngf6cjhtw542ayty80v8dyr49rf5eg57c2qv')
  const policy = (n: number) => n.toString(16).padStart(56, '0')

  function write(assets: AdditionalOutput['assets']) {
    return writeAdditionalOutput(
      { address, lovelace: 2_000_000n, assets, datum: { kind: 'none' } },
      maxValueSize,
    )
  }

  it('collects the assets of each policy', () => {
    const { value } = write([
      [policy(2), 'aa', 1n],
      [policy(1), '', 2n],
      [policy(2), 'bb', 3n],
    ])
    const assets = Array.from(value.assets, ([id, names]) => [id, Object.fromEntries(names)])
    expect(Object.fromEntries(assets)).toEqual({ [policy(1)]: { '': 2n }, [policy(2)]: { aa: 1n, bb: 3n } })
  })

  it('stops reading assets when they take more bytes than a value may have', () => {
    let read = 0
    function* endless(): AdditionalOutput['assets'] {
      for (;;) yield [policy(read++), '', 1n]
    }
    expect(() => write(endless())).toThrow('the assets take more than 5000 bytes')
    expect(read).toBeLessThan(200)
  })

  it('refuses an asset that is repeated', () => {
    expect(() =>
      write([
        [policy(1), 'aa', 1n],
        [policy(1), 'aa', 1n],
      ]),
    ).toThrow('is repeated')
  })
})
