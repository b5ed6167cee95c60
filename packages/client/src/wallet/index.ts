import { checkOptions, type Rules, text } from '../options.js'
import type { Cip30Api } from './cip30.js'
import { bytesOfHex, createLedgerClient, fundsOf } from './ledger-client.js'
import { assertComplete, neededKeys, readTransaction } from './signatures.js'

export type {
  Cip30Api,
  Cip30Wallet,
  DataSignature,
  DevWalletOptions,
  Hex,
  Paginate,
  PublicWallet,
} from './cip30.js'
export { Cip30Error, PaginateError } from './cip30.js'

/** Options of {@link layer2}. */
export interface Layer2Options {
  /** URL of layer 2's Blockfrost API, such as `https://node.example/l2/blockfrost/api/v0`. */
  readonly url: string
}

const rules: Rules<Layer2Options> = { url: { ...text, isRequired: true } }

/** The methods that {@link layer2} calls of a wallet. */
export type SigningApi = Pick<
  Cip30Api,
  'getNetworkId' | 'getUsedAddresses' | 'getChangeAddress' | 'getRewardAddresses' | 'signTx' | 'signData'
> &
  Partial<Pick<Cip30Api, 'getExtensions' | 'getUnusedAddresses'>>

/**
 * Points a wallet at layer 2: addresses and signatures are the wallet's; outputs, balance, collateral and
 * submission are layer 2's.
 *
 * The wallet signs with `partialSign`, because it does not know the outputs of layer 2. Without `partialSign`
 * of the caller, the signatures that layer 2 will require are checked here.
 *
 * @param wallet what `enable()` of a CIP-30 wallet resolved to
 * @throws TypeError if an option does not exist, is missing or has a wrong value, or `wallet` is no such API
 * @example
 * const url = 'http://127.0.0.1:3000/l2/blockfrost/api/v0'
 * const api = layer2(await wallet.enable(), { url })
 */
export function layer2(wallet: SigningApi, options: Layer2Options): Cip30Api {
  checkOptions('layer2', options, rules)
  if (typeof wallet?.signTx !== 'function')
    throw new TypeError('layer2: wallet must be what enable() of a CIP-30 wallet resolved to')
  const client = createLedgerClient(options.url)
  const unused = async (): Promise<string[]> => (await wallet.getUnusedAddresses?.()) ?? []
  const funds = fundsOf(client, async () =>
    (await Promise.all([wallet.getUsedAddresses(), unused(), wallet.getChangeAddress()])).flat(),
  )
  return {
    ...funds,
    getExtensions: async () => (await wallet.getExtensions?.()) ?? [],
    getNetworkId: () => wallet.getNetworkId(),
    getUsedAddresses: (paginate) => wallet.getUsedAddresses(paginate),
    getUnusedAddresses: unused,
    getChangeAddress: () => wallet.getChangeAddress(),
    getRewardAddresses: () => wallet.getRewardAddresses(),
    async signTx(tx, partialSign = false) {
      const transaction = readTransaction(tx)
      const witnessSet = await wallet.signTx(tx, true)
      if (!partialSign) {
        const needed = await neededKeys(transaction, client)
        assertComplete(transaction, bytesOfHex(witnessSet, 'the witness set of the wallet'), needed)
      }
      return witnessSet
    },
    signData: (address, payload) => wallet.signData(address, payload),
  }
}
