import { readFile } from 'node:fs/promises'
import {
  type Address,
  Credential,
  EnterpriseAddress,
  Address as LedgerAddress,
  PrivateKey,
} from '@dcspark/cardano-multiplatform-lib-nodejs'
import type { NodeClient, Utxo } from './node-client.js'

/** A key with the address that it opens. */
export interface Wallet {
  readonly key: PrivateKey
  readonly address: Address
  readonly bech32: string
}

/** A key that nobody has had before, with an address of the test networks. */
export function newWallet(): Wallet {
  const key = PrivateKey.generate_ed25519()
  const credential = Credential.new_pub_key(key.to_public().hash())
  const address = EnterpriseAddress.new(0, credential).to_address()
  return { key, address, bech32: address.to_bech32() }
}

interface WalletFile {
  readonly wallets: readonly { readonly address: string; readonly signingKey: string }[]
}

/** A wallet of the devnet, whose keys are public, with an output that it owns. */
export interface Funds {
  readonly wallet: Wallet
  readonly utxo: Utxo
}

/**
 * Finds money on the devnet. It begins with any of the wallets and takes any of its outputs, so that those
 * who run the demo side by side rarely choose the same.
 *
 * @returns `undefined` when no wallet has an output left
 */
export async function findFunds(node: NodeClient): Promise<Funds | undefined> {
  const file = new URL('../../genesis/devnet-wallets.json', import.meta.url)
  const { wallets }: WalletFile = JSON.parse(await readFile(file, 'utf8'))
  for (const { address, signingKey } of shuffled(wallets)) {
    const [utxo] = shuffled(await node.utxos(address))
    if (utxo !== undefined) {
      const key = PrivateKey.from_bech32(signingKey)
      return { wallet: { key, address: LedgerAddress.from_bech32(address), bech32: address }, utxo }
    }
  }
  return undefined
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
