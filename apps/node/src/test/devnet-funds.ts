import { readFileSync } from 'node:fs'
import {
  Address,
  PrivateKey,
  TransactionHash,
  TransactionInput,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import { testWallets } from '@ratatosk/devnet'
import type { Funds } from './wallet.js'

const folder = new URL('../../genesis/', import.meta.url)
const { wallets } = testWallets
const { utxos }: { utxos: { outref: string; output: string }[] } = JSON.parse(
  readFileSync(new URL('devnet.json', folder), 'utf8'),
)
const outputsEach = utxos.length / wallets.length

/** A genesis output of the devnet, by account and position among the account's outputs. */
export function devnetFunds(account: number, place: number): Funds {
  const { address, signingKey } = wallets[account]!
  const { outref, output } = utxos[account * outputsEach + place]!
  const [hash, index] = outref.split('#')
  const input = TransactionInput.new(TransactionHash.from_hex(hash!), BigInt(index!))
  return {
    wallet: {
      key: PrivateKey.from_bech32(signingKey),
      address: Address.from_bech32(address),
      bech32: address,
    },
    utxo: { outref: input.to_canonical_cbor_hex(), value: output },
  }
}
