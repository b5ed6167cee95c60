import { fromHex, toHex } from '@ratatosk/cbor'
import { decodeTransactionOutput, keyAddress } from '@ratatosk/ledger'
import { describe, expect, it, test } from 'vitest'
import { json, refused, servedAt } from '../test/served.js'
import { install } from './browser/install.js'
import type { Cip30Wallet } from './cip30.js'
import { layer2 } from './index.js'
import { type Amount, decodeAmount, encodeAmount, encodeOutput, readLovelace } from './output.js'
import { faultOfScriptUrl } from './script.js'

const address = toHex(keyAddress(new Uint8Array(28), 0).bytes)
const wallet = {
  getNetworkId: async () => 0,
  getUsedAddresses: async () => [address],
  getChangeAddress: async () => address,
  getRewardAddresses: async () => [],
  signTx: async () => 'a0',
  signData: async () => ({ signature: '', key: '' }),
}

test('an address is unused if Blockfrost says so', async () => {
  const { url } = await servedAt((_, response) =>
    json(response, 404, { status_code: 404, error: 'Not Found', message: 'not found' }),
  )
  const api = layer2(wallet, { url })
  expect([await api.getBalance(), await api.getUtxos()]).toEqual(['00', []])
})

test.for([
  ['a 404 of the node', 404, '{"error":"Not Found","code":"DISABLED"}'],
  ['a 404 that is no JSON', 404, '<h1>Not Found</h1>'],
  ['JSON of a 404 that is no object', 404, 'null'],
  ['an answer that is no JSON', 200, '<h1>Ratatosk</h1>'],
] as const)('%s is no empty wallet', async ([, status, body]) => {
  const { url } = await servedAt((_, response) => response.writeHead(status).end(body))
  const api = layer2(wallet, { url })
  const info = `${url} is no Blockfrost API: its URL ends in /l2/blockfrost/api/v0`
  for (const call of [api.getBalance(), api.getUtxos()])
    expect(await refused(call)).toMatchObject({ name: 'APIError', code: -2, info })
})

test.for([
  ['acount=4', 'dev-wallet.js has no parameter acount: there are account, url, decline'],
  ['decline=sing', 'decline must be enable or sign, not sing'],
  ['account=99', 'There is no account 99: choose one from 0 to -1'],
] as const)('the dev wallet refuses ?%s', async ([query, info]) => {
  const cardano: Record<string, Cip30Wallet> = {}
  const page = { document: { currentScript: { src: `http://node/dev-wallet.js?${query}` } }, cardano }
  install({ wallets: [], url: '/l2/blockfrost/api/v0' }, page)
  expect(await refused(cardano.ratatosk!.enable())).toMatchObject({ name: 'APIError', code: -1, info })
  expect(faultOfScriptUrl(`/dev-wallet.js?${query}`, [])).toBe(info)
})

test('parameters of a page are not those of the dev wallet', async () => {
  const cardano: Record<string, Cip30Wallet> = {}
  install({ wallets: [], url: '/' }, { location: { href: 'http://node/page?acount=4' }, cardano })
  const { info } = await refused(cardano.ratatosk!.enable())
  expect(info).toMatch(/^There is no account 3:/)
})

describe('output', () => {
  const [policyA, policyB] = ['aa'.repeat(28), 'bb'.repeat(28)]
  const address = keyAddress(new Uint8Array(28), 0).bytes
  const amount: Amount = new Map([
    ['lovelace', 2_000_000n],
    [`${policyB}01`, 3n],
    [`${policyA}0102`, 2n],
    [`${policyA}ff`, 2n ** 63n],
    [policyA, 1n],
  ])

  describe('values', () => {
    it('are written in canonical order and read back', () => {
      const assets = `a2581c${policyA}a3400141ff1b800000000000000042010202581c${policyB}a1410103`
      expect(toHex(encodeAmount(amount))).toBe(`821a001e8480${assets}`)
      expect(decodeAmount(encodeAmount(amount))).toEqual(amount)
      expect(toHex(encodeAmount(new Map()))).toBe('00')
    })

    it.each(['', 'ff', '8201', '20', '0000'])('refuses %j as an amount', (hex) => {
      expect(() => decodeAmount(fromHex(hex))).toThrow(
        expect.objectContaining({ name: 'APIError', code: -1 }),
      )
    })

    it.each<[string | number | bigint, bigint]>([
      ['1a004c4b40', 5_000_000n],
      ['5000000', 5_000_000n],
      ['50000000', 50_000_000n],
      [3_000_000, 3_000_000n],
      [7n, 7n],
    ])('reads %s as lovelace', (given, lovelace) => {
      expect(readLovelace(given)).toBe(lovelace)
    })

    it.each([-1, 1.5, 'ada', '-5', null, {}])('refuses %s as lovelace', (given) => {
      expect(() => readLovelace(given)).toThrow(expect.objectContaining({ name: 'APIError', code: -1 }))
    })
  })

  describe('outputs', () => {
    it.each([
      [{ datumHash: null, inlineDatum: null }, { kind: 'none' }],
      [
        { datumHash: 'cd'.repeat(32), inlineDatum: null },
        { kind: 'hash', hash: fromHex('cd'.repeat(32)) },
      ],
      [
        { datumHash: 'cd'.repeat(32), inlineDatum: 'd87980' },
        { kind: 'inline', data: fromHex('d87980') },
      ],
    ])('with the datum %o are what the ledger reads', (datum, expected) => {
      const output = decodeTransactionOutput(encodeOutput({ address, amount, ...datum }))
      expect(output.address.bytes).toEqual(address)
      expect(output.value.lovelace).toBe(2_000_000n)
      expect(output.value.assets.get(policyA)?.get('0102')).toBe(2n)
      expect(output.datum).toMatchObject(expected)
    })
  })
})
