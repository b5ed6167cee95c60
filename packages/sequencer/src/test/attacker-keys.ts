import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'

/** Of another operator. */
export const attackerKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })

/** Of a third one. */
export const thirdKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 6 })
