import { CborWriter, fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransaction, type TransactionOutput } from '@ratatosk/ledger'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson } from '../json.js'
import { chainWith } from '../test/served-chain.js'
import type { ChainOutput } from '../view/chain-view.js'
import { assetMetadata } from './asset-metadata.js'
import { metadataJson, metadatumJson } from './data-json.js'

it.each([
  ['182a', 42n],
  ['29', -10n],
  ['1bffffffffffffffff', 2n ** 64n - 1n],
  ['43010203', '0x010203'],
  ['5f41014102ff', '0x0102'],
  ['6548656c6c6f', 'Hello'],
  ['7f624865636c6c6fff', 'Hello'],
  ['8201616b', [1n, 'k']],
  ['9f01ff', [1n]],
  ['a36161014102616203820102', { a: 1n, '0x02': 'b', '3': [1n, 2n] }],
  ['a182010203', { '0x820102': 3n }],
  ['a1a1010203', { '0xa10102': 3n }],
  ['a19f01ff02', { '0x9f01ff': 2n }],
])('a metadatum as JSON: %s', (hex, json) => {
  expect(metadatumJson(fromHex(hex))).toEqual(json)
})

/** Writes an arbitrary metadatum; lists and maps are also keys. */
type Write = (writer: CborWriter) => void
const { metadatum } = fc.letrec<{ metadatum: Write }>((tie) => {
  const item = tie('metadatum')
  return {
    metadatum: fc.oneof(
      { maxDepth: 6 },
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(
        (n): Write =>
          (writer) =>
            writer.uint(n),
      ),
      fc.uint8Array({ maxLength: 64 }).map(
        (bytes): Write =>
          (writer) =>
            writer.bytes(bytes),
      ),
      fc.string({ maxLength: 15, unit: 'binary' }).map(
        (text): Write =>
          (writer) =>
            writer.text(text),
      ),
      fc.array(item, { maxLength: 4 }).map(
        (items): Write =>
          (writer) => {
            writer.array(items.length)
            for (const write of items) write(writer)
          },
      ),
      fc.array(fc.tuple(item, item), { maxLength: 4 }).map(
        (entries): Write =>
          (writer) => {
            writer.map(entries.length)
            for (const write of entries.flat()) write(writer)
          },
      ),
    ),
  }
})

it('JSON is at most 16 times as long as CBOR', () => {
  fc.assert(
    fc.property(metadatum, (write) => {
      const writer = new CborWriter(65_536)
      write(writer)
      const cbor = writer.toBytes()
      expect(encodeJson(metadatumJson(cbor)).length).toBeLessThanOrEqual(16 * cbor.length)
    }),
  )
})

it('the length of keys does not double on each level', () => {
  const depth = 1000
  const writer = new CborWriter(65_536)
  for (let level = 0; level < depth; level++) writer.map(1)
  writer.uint(0)
  for (let level = 0; level < depth; level++) writer.uint(0)
  const cbor = writer.toBytes()
  expect(encodeJson(metadatumJson(cbor)).length).toBeLessThan(3 * cbor.length)
})

it('refuses auxiliary data whose JSON could be longer than 1 MiB', () => {
  // One label, a list of 65,536 integers.
  const bytes = new Uint8Array(7 + 65_536)
  bytes.set([0xa1, 0x00, 0x9a, 0x00, 0x01, 0x00, 0x00])
  expect(() => metadataJson({ bytes, scripts: [] })).toThrow(expect.objectContaining({ statusCode: 400 }))
})

const policy = '11'.repeat(28)
const none = { metadata: null, standard: null, extra: null, decimals: null }

/** JSON as CBOR; strings that begin with `0x` are bytes. */
function cborOf(json: unknown): Uint8Array {
  const writer = new CborWriter(65_536)
  const write = (value: unknown): void => {
    if (typeof value === 'number') writer.uint(value)
    else if (typeof value === 'string')
      value.startsWith('0x') ? writer.bytes(fromHex(value.slice(2))) : writer.text(value)
    else if (Array.isArray(value)) {
      writer.array(value.length)
      for (const item of value) write(item)
    } else {
      const entries = Object.entries(value as object)
      writer.map(entries.length)
      for (const entry of entries.flat()) write(entry)
    }
  }
  write(json)
  return writer.toBytes()
}

describe('the metadata of the last mint with label 721', () => {
  const read = (name: string, tokens: unknown) => {
    const bytes = new CborWriter(65_536).map(1).uint(721).raw(cborOf(tokens)).toBytes()
    const transaction = decodeTransaction(payment().cbor)
    const chain = chainWith({
      outputs: () => [],
      transaction: (hash) => ({
        transaction: { hash, transaction: { ...transaction, auxiliaryData: { bytes, scripts: [] } } },
      }),
    })
    return assetMetadata(chain, policy + name, { described: 'ab' })
  }
  const art = { name: 'Art', image: 'ipfs://1' }
  const found = (metadata: object, standard: string | null) => ({ ...none, metadata, standard })

  it.each([
    ['a name as text', '6161', { [policy]: { aa: art } }, found(art, 'CIP25v1')],
    [
      'a name as the hex of bytes that are no text',
      '9a56',
      { [policy]: { '9a56': art } },
      found(art, 'CIP25v1'),
    ],
    ['an empty name', '', { [policy]: { '': art } }, found(art, 'CIP25v1')],
    ['version 1 in words', '6161', { version: '1.0', [policy]: { aa: art } }, found(art, 'CIP25v1')],
    ['bytes in version 2', '6161', { version: 2, [`0x${policy}`]: { '0x6161': art } }, found(art, 'CIP25v2')],
    ['text in version 2', '6161', { version: 2, [policy]: { aa: art } }, found(art, null)],
    ['text that looks like bytes', '6161', { version: 2, [policy]: { '6161': art } }, none],
    ['bytes in version 1', '6161', { [`0x${policy}`]: { '0x6161': art } }, none],
    ['another version', '6161', { version: 3, [policy]: { aa: art } }, none],
    ['another asset', '6262', { [policy]: { aa: art } }, none],
    ['no image', '6161', { [policy]: { aa: { name: 'Art' } } }, found({ name: 'Art' }, null)],
    ['metadata that are no map', '6161', { [policy]: { aa: 'Art' } }, none],
    ['a policy that is no map', '6161', { [policy]: 'aa' }, none],
    ['tokens that are no map', '6161', [policy], none],
  ])('%s', async (_what, name, tokens, expected) => {
    expect(await read(name, tokens)).toEqual(expected)
  })
})

describe('the datum of the reference token', () => {
  const hex = (text: string) => `0x${toHex(Buffer.from(text))}`
  const names = { nft: '000de140', ft: '0014df10', rft: '001bc280' }

  /** Reads an asset whose reference token is in outputs with these data, oldest first. */
  const read = (name: string, data: readonly (Uint8Array | undefined)[]) => {
    const chain = chainWith({
      outputs: ({ unit }, { order }) =>
        unit !== `${policy}000643b0aa` || order !== 'newest-first'
          ? []
          : data.toReversed().map((each) => {
              const datum = each === undefined ? { kind: 'none' } : { kind: 'inline', data: each }
              return { output: { datum } as TransactionOutput } as ChainOutput
            }),
    })
    return assetMetadata(chain, `${policy}${name}aa`, {})
  }
  const datum = (metadata: object, ...rest: unknown[]) =>
    fromHex(`d8799f${toHex(cborOf(metadata))}${rest.map((each) => toHex(cborOf(each))).join('')}ff`)
  const token = { [hex('name')]: hex('Coin'), [hex('description')]: hex('A coin'), [hex('decimals')]: 6 }
  const art = { [hex('name')]: hex('Art'), [hex('image')]: [hex('ipfs'), hex('://1')], [hex('rarity')]: 7 }
  const coin = { name: 'Coin', description: 'A coin', decimals: 6 }

  it.each([
    ['a fungible token', names.ft, [datum(token, 1)], { metadata: coin, standard: 'CIP68v1', decimals: 6 }],
    [
      'a token with an image in parts, further fields and further data',
      names.nft,
      [datum(art, 3, hex('more'))],
      {
        metadata: { name: 'Art', image: 'ipfs://1', rarity: '07' },
        standard: 'CIP68v3',
        extra: '446d6f7265',
      },
    ],
    [
      'a rich token with files',
      names.rft,
      [
        datum(
          {
            ...art,
            [hex('decimals')]: 2,
            [hex('files')]: [{ [hex('src')]: hex('a'), [hex('mediaType')]: hex('b') }],
          },
          2,
        ),
      ],
      { metadata: { files: [{ src: 'a', mediaType: 'b' }], decimals: 2 }, standard: 'CIP68v2', decimals: 2 },
    ],
    [
      'the newest output with a datum',
      names.ft,
      [datum(art, 1), datum(token, 1), undefined],
      { metadata: coin },
    ],
    ['a version that is not known', names.ft, [datum(token, 4)], none],
    ['a missing version', names.ft, [datum(token)], none],
    ['a missing field', names.nft, [datum(token, 1)], none],
    ['decimals that are no number', names.ft, [datum({ ...token, [hex('decimals')]: hex('6') }, 1)], none],
    ['a datum that is no constructor', names.ft, [cborOf(token)], none],
    ['a datum without fields', names.ft, [fromHex('d87980')], none],
    ['no reference token', names.ft, [], none],
    ['another label', '000643c0', [datum(token, 1)], none],
  ])('%s', async (_what, name, data, expected) => {
    expect(await read(name, data)).toMatchObject(expected)
  })
})
