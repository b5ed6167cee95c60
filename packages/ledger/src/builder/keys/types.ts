import type { ShelleyAddress } from '../../index.js'

/** A key that signs transactions. */
export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  /** Blake2b-224 of the public key. */
  readonly hash: Uint8Array
  /**
   * @param message for a transaction its 32-byte id
   * @returns the Ed25519 signature, 64 bytes
   */
  sign(message: Uint8Array): Uint8Array
}

/** A payment key and its address. */
export interface WalletKeys {
  readonly payment: SigningKey
  readonly address: ShelleyAddress
  /** The address in bech32. */
  readonly addressText: string
}

/** 0 is every test network, 1 is mainnet. */
export type NetworkId = 0 | 1

export interface SeedPhraseOptions {
  readonly networkId: NetworkId
  /** CIP-1852 account; default 0. One phrase can hold a wallet for each role. */
  readonly account?: number
  /** Index of the account's external address; default 0. */
  readonly addressIndex?: number
  /** Whether the address contains the account's stake key, as wallets show it (default true). */
  readonly stake?: boolean
}
