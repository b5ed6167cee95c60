import { testWallets } from '@ratatosk/devnet'
import { type Contracts, keysFromSeedPhrase, openContracts } from '@ratatosk/layer1'

export const administratorKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 0 })
export const operatorKeys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account: 1 })

/** @param maturityWindow milliseconds */
export const contractsOf = (maturityWindow: bigint): Contracts =>
  openContracts(
    {
      protocol: 'RATATOSK',
      administrator: administratorKeys.payment.hash,
      maturityWindow,
      turnLength: 60_000n,
      bond: 500_000_000n,
      releaseDelay: 60_000n + maturityWindow,
      maxOperators: 10n,
    },
    0,
  )

/** Whoever owns the outputs of layer 2's genesis in tests. */
export const userSeed = 9
