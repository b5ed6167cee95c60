import { testWallets } from '@ratatosk/devnet'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { keysFromSeedPhrase } from '../keys/seed-phrase.js'

export const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const emptyKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 40 })

/** One per test file: its threads are slow to start. */
export const evaluator = createEvaluator({ threads: 1 })
