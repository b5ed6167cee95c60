import { toHex } from '@ratatosk/cbor'
import { keyAddress } from '@ratatosk/ledger'
import { expect, test } from 'vitest'
import { json, refused, servedAt } from '../test/served.js'
import { install } from './browser/install.js'
import { layer2 } from './layer2.js'
import type { Cip30Wallet } from './types.js'

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
})

test('parameters of a page are not those of the dev wallet', async () => {
  const cardano: Record<string, Cip30Wallet> = {}
  install({ wallets: [], url: '/' }, { location: { href: 'http://node/page?acount=4' }, cardano })
  const { info } = await refused(cardano.ratatosk!.enable())
  expect(info).toMatch(/^There is no account/)
})
