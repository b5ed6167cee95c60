import { testWallets } from '@ratatosk/devnet'
import { keysFromSeedPhrase } from '@ratatosk/transaction'

/** Of another operator. */
export const attackerKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 5 })
