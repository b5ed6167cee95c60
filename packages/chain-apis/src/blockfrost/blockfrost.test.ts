import { CborWriter, fromHex } from '@ratatosk/cbor'
import { decodeTransaction } from '@ratatosk/ledger'
import { payment } from '@ratatosk/test-kit/ledger-apis'
import { describe, expect, it } from 'vitest'
import { chainWith } from '../test/served-chain.js'
import { maxMetadataLength } from './metadata-json.js'
import { amountJson } from './output-json.js'
import { plutusJson } from './plutus-json.js'
import { extendedAmount } from './routes/address-routes.js'
import { assetJson, fingerprint } from './routes/asset-routes.js'

it('lists lovelace, and the assets by unit, whatever their order in the output', () => {
  const [one, other] = ['aa'.repeat(28), 'bb'.repeat(28)]
  const assets = new Map([
    [other, new Map([['', 1n]])],
    [
      one,
      new Map([
        ['62', 2n],
        ['61', 3n],
      ]),
    ],
  ])
  const units = amountJson({ lovelace: 5n, assets }).map(({ unit }) => unit)
  expect(units).toEqual(['lovelace', `${one}61`, `${one}62`, other])
})

describe('asset json', () => {
  // The test vectors of CIP-14.
  it.each([
    [
      '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc373',
      'asset1rjklcrnsdzqp65wjgrg55sy9723kw09mlgvlc3',
    ],
    [
      '7eae28af2208be856f7a119668ae52a49b73725e326dc16579dcc37e',
      'asset1nl0puwxmhas8fawxp8nx4e2q3wekg969n2auw3',
    ],
    [
      '1e349c9bdea19fd6c147626a5260bc44b71635f398b67c59881df209504154415445',
      'asset1hv4p5tv2a837mzqrst04d0dcptdjmluqvdx9k3',
    ],
  ])('the fingerprint of %s', (unit, text) => {
    expect(fingerprint(unit)).toBe(text)
  })

  it('an asset whose metadata are too large for JSON leaves the others their answer', async () => {
    const policy = '11'.repeat(28)
    const small = `${policy}01`
    const large = `${policy}02`
    const transaction = decodeTransaction(payment().cbor)
    /** Metadata of both, with further bytes. */
    const metadataWith = (further: number) => {
      const writer = new CborWriter(2 * maxMetadataLength).map(2).uint(721).map(1).text(policy)
      writer.map(2).text('01').map(0).text('02').map(0)
      return writer.uint(722).bytes(new Uint8Array(further)).toBytes()
    }
    const chain = chainWith({
      asset: (unit) => ({ quantity: 1n, mints: 1, first: unit, last: unit, described: unit }),
      transaction: (unit) => {
        const bytes = metadataWith(unit === large ? maxMetadataLength : 0)
        const auxiliaryData = { bytes, scripts: [] }
        return { transaction: { hash: unit, transaction: { ...transaction, auxiliaryData } } }
      },
    })
    const amount = ['lovelace', small, large].map((unit) => ({ unit, quantity: '1' }))
    expect(await extendedAmount(chain, amount)).toMatchObject([
      { has_nft_onchain_metadata: false },
      { unit: small, has_nft_onchain_metadata: true },
      { unit: large, has_nft_onchain_metadata: false },
    ])
    await expect(assetJson(chain, large)).rejects.toMatchObject({ statusCode: 400 })
  })
})

describe('plutus json', () => {
  describe('Plutus data as JSON', () => {
    it.each([
      ['182a', { int: 42n }],
      ['29', { int: -10n }],
      ['c249010000000000000000', { int: 2n ** 64n }],
      ['c349010000000000000000', { int: -1n - 2n ** 64n }],
      ['c25f41014100ff', { int: 256n }],
      ['43010203', { bytes: '010203' }],
      ['5f41014102ff', { bytes: '0102' }],
      ['820102', { list: [{ int: 1n }, { int: 2n }] }],
      ['9f0102ff', { list: [{ int: 1n }, { int: 2n }] }],
      ['a10140', { map: [{ k: { int: 1n }, v: { bytes: '' } }] }],
      ['d87980', { constructor: 0, fields: [] }],
      ['d905009f01ff', { constructor: 7, fields: [{ int: 1n }] }],
      ['d8668218c88101', { constructor: 200, fields: [{ int: 1n }] }],
      ['d8669f18c88101ff', { constructor: 200, fields: [{ int: 1n }] }],
    ])('%s', (hex, json) => {
      expect(plutusJson(fromHex(hex))).toEqual(json)
    })
  })
})
