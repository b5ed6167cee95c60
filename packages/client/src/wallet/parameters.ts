import type { PublicWallet } from './cip30.js'

const names = ['account', 'url', 'decline']

/** Without the parameter `account`: a node uses the accounts before it. */
const defaultAccount = '3'

/** The query of the script's URL. */
interface ScriptParameters {
  readonly wallet: PublicWallet
  /** URL of the Blockfrost API of another ledger, absolute or relative to the script's. */
  readonly url: string | null
  /** How a user behaves who declines. */
  readonly decline: 'enable' | 'sign' | null
}

/**
 * Reads the query of the URL of `dev-wallet.js`.
 *
 * @returns a text if it is wrong: why
 */
export function readParameters(
  query: URLSearchParams,
  wallets: readonly PublicWallet[],
): ScriptParameters | string {
  for (const name of query.keys())
    if (!names.includes(name)) return `dev-wallet.js has no parameter ${name}: there are ${names.join(', ')}`
  const decline = query.get('decline')
  if (decline !== null && decline !== 'enable' && decline !== 'sign')
    return `decline must be enable or sign, not ${decline}`
  const account = query.get('account') ?? defaultAccount
  const wallet = wallets.find((candidate) => String(candidate.account) === account)
  if (wallet === undefined)
    return `There is no account ${account}: choose one from 0 to ${wallets.length - 1}`
  return { wallet, url: query.get('url'), decline }
}
