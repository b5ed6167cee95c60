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
