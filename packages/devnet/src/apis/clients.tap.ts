import { aliceGenesis, blockfrostSuite, ogmiosSuite, type ServedLedger } from '@ratatosk/test-kit/ledger-apis'
import { type Test, test } from 'tap'
import { serveDevnet } from '../test/scenes.js'

blockfrostSuite(test, openLedger)
ogmiosSuite(test, openLedger)

/** The devnet for the suites of `@ratatosk/test-kit/ledger-apis`, which layer 2 runs too. */
async function openLedger(t: Test): Promise<ServedLedger> {
  const { devnet, blockfrost, ogmios, close } = await serveDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  t.teardown(close)
  return {
    layer: 1,
    blockfrost,
    ogmios,
    parameters: devnet.parameters,
    genesisHash: devnet.genesisHash,
    currentSlot: () => devnet.currentSlot(),
    submit: (cbor) => devnet.submit(cbor),
    produceBlock: () => devnet.produceBlock(),
    rollBack: (blocks) => devnet.rollBack(blocks),
    reset: async () => {
      await devnet.rollBack(devnet.tip().height)
    },
    isConfirmed: async (hash) => devnet.status(hash).status === 'confirmed',
  }
}
