import { cip30Error, invalidRequest } from '../errors.js'
import type { Cip30Api, Cip30Wallet, DevWalletOptions } from '../types.js'
import { publicWalletApi } from './api.js'

const icon =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"%3E%3Ccircle ' +
  'cx="4" cy="4" r="4" fill="%23b5651d"/%3E%3C/svg%3E'

const parameters = ['account', 'url', 'decline']

/** The parts of a page that the script needs. */
interface Page {
  readonly document?: { readonly currentScript?: { readonly src?: string } | null }
  readonly location?: { readonly href: string }
  cardano?: Record<string, Cip30Wallet>
}

/**
 * Offers a public wallet as `window.cardano.ratatosk`. Query parameters of the script: `account` (default 3:
 * a node uses the first three), `url` (the Blockfrost API of a ledger), and `decline` (`enable` or `sign`),
 * for a user who declines. With others, `enable` rejects.
 */
export function install({ wallets, url }: DevWalletOptions, page: Page = globalThis as Page): void {
  const src = page.document?.currentScript?.src
  const base = src || page.location?.href
  const chosen = new URL(base ?? 'http://127.0.0.1').searchParams
  const account = Number(chosen.get('account') ?? 3)
  const declines = chosen.get('decline')
  let api: Cip30Api | undefined

  function check(): void {
    // A page has parameters of its own.
    for (const name of src ? chosen.keys() : [])
      if (!parameters.includes(name))
        throw invalidRequest(`dev-wallet.js has no parameter ${name}: there are ${parameters.join(', ')}`)
    if (src && declines !== null && declines !== 'enable' && declines !== 'sign')
      throw invalidRequest(`decline must be enable or sign, not ${declines}`)
  }

  function open(): Cip30Api {
    const wallet = wallets.find((candidate) => candidate.account === account)
    if (wallet === undefined) {
      throw invalidRequest(
        `There is no account ${chosen.get('account')}: choose one from 0 to ${wallets.length - 1}`,
      )
    }
    const ledger = new URL(chosen.get('url') ?? url, base).href
    return publicWalletApi({ wallet, url: ledger, declines: declines === 'sign' })
  }

  page.cardano ??= {}
  page.cardano.ratatosk = Object.freeze({
    name: 'Ratatosk devnet',
    icon,
    apiVersion: '1',
    supportedExtensions: [],
    isEnabled: async () => api !== undefined,
    async enable() {
      check()
      if (declines === 'enable')
        throw cip30Error('APIError', 'Refused', 'The user declined to connect the wallet')
      api ??= open()
      return api
    },
  })
}
