import { blockfrostSuite, ogmiosSuite } from '@ratatosk/test-kit/ledger-apis'
import t from 'tap'
import { serveLayer2 } from './test/served-layer2.js'

// The suites that the devnet runs for layer 1, with as many tests. They read committed blocks, so that an
// accepted transaction is in the mempool first, as on layer 1.
const layer2 = await serveLayer2()
t.teardown(() => layer2.close())

t.test('blockfrost-js', async (t) => {
  blockfrostSuite((name, run) => t.test(name, run), layer2.openLedger('committed'))
})

t.test('the client of Ogmios', async (t) => {
  ogmiosSuite((name, run) => t.test(name, run), layer2.openLedger('committed'))
})
