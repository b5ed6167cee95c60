import { readFile } from 'node:fs/promises'
import type { DevWalletOptions } from './types.js'

export type { DevWalletOptions, PublicWallet } from './types.js'

/** The bundle, which a build makes after compilation. */
const bundle = new URL('../../bundle/dev-wallet.js', import.meta.url)

/**
 * The text of a classic script that offers public wallets as `window.cardano.ratatosk`. THEIR KEYS ARE IN IT:
 * serve it on a devnet only.
 *
 * @throws (rejects) `ENOENT` if the package is not built
 */
export async function devWalletScript({ wallets, url }: DevWalletOptions): Promise<string> {
  const options = JSON.stringify({ wallets, url })
  return `(() => {\n${await readFile(bundle, 'utf8')}\ndevWallet.install(${options})\n})()\n`
}
