import { expect, test } from 'vitest'
import { banner } from './banner.js'
import { readSettings } from './settings/read.js'

const bannerOn = (NETWORK: string) => {
  const settings = { ...readSettings({}), NETWORK } as ReturnType<typeof readSettings>
  const places = { store: 'memory', queue: 'memory' }
  return banner({ url: 'http://127.0.0.1:3000', settings, places } as Parameters<typeof banner>[0])
}

test('only a devnet has test wallets, so only its node offers the demo', () => {
  expect(bannerOn('devnet')).toContain('demo --url http://127.0.0.1:3000')
  for (const network of ['preprod', 'preview', 'mainnet']) {
    expect(bannerOn(network)).toContain('/stateQueue')
    expect(bannerOn(network)).not.toContain('demo')
  }
})

test('the banner of a watcher names the wallet that pays', () => {
  const peers = { ARCHIVIST_PEERS: 'http://127.0.0.1:9', LAYER1_PROVIDER: 'blockfrost' }
  const settings = readSettings({ ...peers, NODE_ROLE: 'watcher', BLOCKFROST_URL: 'http://127.0.0.1:9' })
  const node = { url: 'http://127.0.0.1:3000', settings, places: {}, watcherAddress: 'addr_test1xyz' }
  const text = banner(node as Parameters<typeof banner>[0])
  expect(text).toMatch(/watcher pays from +addr_test1xyz/)
  expect(text).toContain('/block/1')
})
