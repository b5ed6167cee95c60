import {
  type Address,
  Credential,
  EnterpriseAddress,
  PrivateKey,
} from '@dcspark/cardano-multiplatform-lib-nodejs'

export interface Wallet {
  readonly key: PrivateKey
  readonly address: Address
  readonly bech32: string
}

/** A wallet with an output that it owns, as `GET /utxos` returns it: both in hex CBOR. */
export interface Funds {
  readonly wallet: Wallet
  readonly utxo: { readonly outref: string; readonly value: string }
}

/** A new key, with an address of the test networks. */
export function newWallet(): Wallet {
  const key = PrivateKey.generate_ed25519()
  const credential = Credential.new_pub_key(key.to_public().hash())
  const address = EnterpriseAddress.new(0, credential).to_address()
  return { key, address, bech32: address.to_bech32() }
}
