import { readFile } from 'node:fs/promises'
import { checkOptions, type Rules, text } from '../options.js'
import type { DevWalletOptions, PublicWallet } from './cip30.js'
import { readParameters } from './parameters.js'

export type { DevWalletOptions, PublicWallet } from './cip30.js'

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

/**
 * Why a server refuses the URL of the script, whose query the script itself would refuse at `enable`;
 * undefined if it does not.
 *
 * @param url path and query
 * @param wallets those of the script
 */
export function faultOfScriptUrl(url: string, wallets: readonly PublicWallet[]): string | undefined {
  const read = readParameters(new URL(url, 'http://localhost').searchParams, wallets)
  return typeof read === 'string' ? read : undefined
}
