import type { PublicWallet, TestWallets } from '@ratatosk/node'

/** A wallet of a test node, with funds on both layers. THE KEYS ARE PUBLIC: never use it elsewhere. */
export interface FundedWallet extends PublicWallet {
  /** 24 words (BIP-39), the same for all wallets. */
  readonly seedPhrase: string
}

/** The first accounts are the administrator, the operator and the faucet. */
const reserved = 3

/** Wallets of the devnet that the node does not use. @throws {RangeError} if there are too few */
export function fundedWallets(testWallets: TestWallets, count: number): readonly FundedWallet[] {
  const most = testWallets.wallets.length - reserved
  if (!Number.isInteger(count) || count < 0 || count > most)
    throw new RangeError(`wallets must be a whole number from 0 to ${most}, not ${count}`)
  const { mnemonic: seedPhrase, wallets } = testWallets
  return wallets.slice(reserved, reserved + count).map((wallet) => ({ ...wallet, seedPhrase }))
}
