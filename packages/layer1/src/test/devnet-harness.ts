import { createDevnet, testWallets } from '@ratatosk/devnet'
import { CborWriter, toHex } from '@ratatosk/ledger'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { keysFromSeedPhrase } from '../keys/seed-phrase.js'
import type { ProviderHarness } from '../provider-suite/harness.js'
import type { Layer1, Layer1Limits } from '../types.js'

export const limits = { requestTimeoutMs: 150, callTimeoutMs: 5000, attempts: 2, backoffMs: 1, pollMs: 20 }

export const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const emptyKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 40 })

/** One for all tests of a file: its threads are slow to start. */
export const evaluator = createEvaluator({ threads: 1 })

export type Devnet = Awaited<ReturnType<typeof createDevnet>>

/** Where a devnet is reached: `faces` serves it, or nothing does, in process. */
export interface Reached {
  readonly layer1: Layer1
  readonly face: 'client' | 'blockfrost' | 'kupmios'
  close(): Promise<void>
}

export async function openDevnet(funds = 3): Promise<Devnet> {
  const output = toHex(
    new CborWriter().map(2).uint(0).bytes(keys.address.bytes).uint(1).uint(1_000_000_000).toBytes(),
  )
  return createDevnet({
    blockEveryMs: 0,
    evaluator,
    genesis: {
      startTime: Date.now() - 100_000_000,
      networkMagic: 42,
      utxos: Array.from({ length: funds }, (_, index) => ({ outref: `${'11'.repeat(32)}#${index}`, output })),
    },
  })
}

export async function openHarness(
  reach: (devnet: Devnet, limits: Layer1Limits) => Promise<Reached>,
): Promise<ProviderHarness> {
  const devnet = await openDevnet()
  const { layer1, face, close } = await reach(devnet, limits)
  return {
    layer1,
    keys,
    emptyKeys,
    evaluator,
    produceBlock: async () => {
      await devnet.produceBlock()
    },
    rollBack: async (blocks) => {
      await devnet.rollBack(blocks)
    },
    inject(kind, operation, times) {
      // Behind Kupo and Ogmios, each operation is asked of one of the two.
      const faces = face === 'kupmios' ? (['kupo', 'ogmios'] as const) : [face]
      for (const one of faces) devnet.faults.inject({ kind, operation, times, face: one })
    },
    clearFaults: () => devnet.faults.clear(),
    close: async () => {
      await close()
      await devnet.close()
    },
  }
}
