import type { TestWallets } from '@ratatosk/node'

/** A wallet of a test node, with funds on both layers. THE KEYS ARE PUBLIC: never use it elsewhere. */
export interface FundedWallet {
  /** Bech32 base address, with payment and stake key. */
  readonly address: string
  /** 24 words (BIP-39), the same for all wallets, and the account of this one (CIP-1852). */
  readonly seedPhrase: string
  readonly account: number
  /** Payment and stake signing key, as bech32 `ed25519e_sk` (CIP-5). */
  readonly signingKey: string
  readonly stakeSigningKey: string
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
