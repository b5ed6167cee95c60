/** The authorization of a use of an address, account or certificate: a signature of a key, or a script. */
export interface Credential {
  readonly kind: 'key' | 'script'
  /** Blake2b-224 of the public key, or the script hash: 28 bytes. */
  readonly hash: Uint8Array
}

/**
 * The position of a stake registration on the chain. Conway accepts pointer addresses but gives them no
 * stake.
 */
export interface StakePointer {
  readonly slot: number
  readonly transactionIndex: number
  readonly certificateIndex: number
}

/** A payment address since the Shelley era (CIP-19 types 0 to 7). */
export interface ShelleyAddress {
  readonly kind: 'base' | 'pointer' | 'enterprise'
  readonly bytes: Uint8Array
  /** 0 for test networks, 1 for mainnet. */
  readonly networkId: number
  readonly payment: Credential
  /** Only in base addresses. */
  readonly stake?: Credential
  /** Only in pointer addresses. */
  readonly pointer?: StakePointer
}

/** The address of a stake account (CIP-19 types 14 and 15). It cannot receive outputs. */
export interface RewardAddress {
  readonly kind: 'reward'
  /** 29 bytes. */
  readonly bytes: Uint8Array
  /** 0 for test networks, 1 for mainnet. */
  readonly networkId: number
  readonly stake: Credential
}

/** A payment address of the Byron era (CIP-19 type 8), also called a bootstrap address. */
export interface ByronAddress {
  readonly kind: 'byron'
  /** The CBOR `[24(payload), crc32]`. */
  readonly bytes: Uint8Array
  /** 0 if the address has a network magic, otherwise 1. */
  readonly networkId: number
  /** Blake2b-224 of the SHA3-256 of type, spending data and attributes: 28 bytes. */
  readonly root: Uint8Array
  /** The CBOR map of attributes. */
  readonly attributes: Uint8Array
  /** Whether a verification key or a redemption key of the Ada sale unlocks it. */
  readonly spending: 'key' | 'redeem'
  /** Only on test networks. */
  readonly networkMagic?: number
}

/** A Cardano address of any kind (CIP-19), discriminated by `kind`. */
export type Address = ShelleyAddress | RewardAddress | ByronAddress
