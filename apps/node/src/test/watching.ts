import type { Wallet } from '@ratatosk/layer1'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'

/** A seed phrase that no other wallet of the tests has. */
export const watcherPhrase = `${'abandon '.repeat(23)}art`

/** Pays what a watcher needs to the wallet of its phrase, and waits for it. @returns its address */
export async function fundWatcher(
  payer: Wallet,
  included: (id: Uint8Array) => Promise<unknown>,
): Promise<string> {
  const { address, addressText } = keysFromSeedPhrase(watcherPhrase, { networkId: 0 })
  const output = { address: address.bytes, value: { lovelace: 200_000_000n, assets: new Map() } }
  const { id } = await payer.send({ outputs: [output, output, output, output] })
  await included(id)
  return addressText
}
