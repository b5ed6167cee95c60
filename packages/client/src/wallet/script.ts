import { readFile } from 'node:fs/promises'
import { checkOptions, type Rules, text } from '../options.js'
import type { DevWalletOptions } from './types.js'

export type { DevWalletOptions, PublicWallet } from './types.js'

/** The bundle, which a build makes after compilation. */
const bundle = new URL('../../bundle/dev-wallet.js', import.meta.url)

const rules: Rules<DevWalletOptions> = {
  wallets: { kind: 'an array of wallets', isRequired: true, takes: Array.isArray },
  url: { ...text, isRequired: true },
}

/**
 * The text of a classic script that offers public wallets as `window.cardano.ratatosk`. THEIR KEYS ARE IN IT:
 * serve it on a devnet only.
 *
 * @throws (rejects) `ENOENT` if the package is not built; a `TypeError` for options that cannot work
 */
export async function devWalletScript(options: DevWalletOptions): Promise<string> {
  checkOptions('devWalletScript', options, rules)
  const text = JSON.stringify(options)
  return `(() => {\n${await readFile(bundle, 'utf8')}\ndevWallet.install(${text})\n})()\n`
}
