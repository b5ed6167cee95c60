export interface Credential {
  readonly kind: 'key' | 'script'
  /** Blake2b-224, 28 bytes. */
  readonly hash: Uint8Array
}

/** Where on the chain a stake key was registered. Conway keeps such addresses and gives them no stake. */
export interface StakePointer {
  readonly slot: number
  readonly transactionIndex: number
  readonly certificateIndex: number
}

export interface ShelleyAddress {
  readonly kind: 'base' | 'pointer' | 'enterprise'
  readonly bytes: Uint8Array
  /** 0 is every test network, 1 is mainnet. */
  readonly networkId: number
  readonly payment: Credential
  /** Of a base address only. */
  readonly stake?: Credential
  /** Of a pointer address only. */
  readonly pointer?: StakePointer
}

export interface RewardAddress {
  readonly kind: 'reward'
  readonly bytes: Uint8Array
  readonly networkId: number
  readonly stake: Credential
}

export interface ByronAddress {
  readonly kind: 'byron'
  readonly bytes: Uint8Array
  readonly networkId: number
  /** Blake2b-224 of SHA3-256 of type, spending data and attributes: 28 bytes. */
  readonly root: Uint8Array
  /** The CBOR map of attributes. */
  readonly attributes: Uint8Array
  /** Unlocked by a verification key, or by a redemption key of the Ada sale. */
  readonly spending: 'key' | 'redeem'
  /** Of test networks only: mainnet's addresses carry none. */
  readonly networkMagic?: number
}

/** CIP-19. */
export type Address = ShelleyAddress | RewardAddress | ByronAddress
