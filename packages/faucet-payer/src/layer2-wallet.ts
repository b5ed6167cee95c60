import { setTimeout as delay } from 'node:timers/promises'
import type { Payment } from '@ratatosk/claims'
import {
  decodeTransactionOutput,
  type ProtocolParameters,
  type SlotConfig,
  timeToSlot,
} from '@ratatosk/ledger'
import type { SubmissionQueue } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import type { WalletKeys } from '@ratatosk/transaction'
import { FaucetPayerError } from './errors.js'
import { preparePayment } from './prepare-payment.js'
import type { FaucetWallet, Sending } from './wallet.js'

/** Options of {@link createLayer2FaucetWallet}. */
export interface Layer2FaucetWalletOptions {
  readonly store: Pick<Store, 'utxosAt' | 'transaction'> & {
    readonly rejections: Pick<Store['rejections'], 'find'>
  }
  /** The queue behind `POST /submit`. */
  readonly submissions: Pick<SubmissionQueue, 'add'>
  /** Only the faucet may spend from this wallet. */
  readonly keys: WalletKeys
  /** The parameters and slots that the validation workers of layer 2 use. */
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /**
   * How long {@link FaucetWallet.send} waits until the payment is validated, in milliseconds.
   *
   * @defaultValue 10,000
   */
  readonly verdictMs?: number
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
}

/** Initial delay between two checks for the outcome; doubles each time. */
const firstPollMs = 10
const longestPollMs = 250

/**
 * The faucet's funds on layer 2. A payment is submitted like any other transaction and is settled once it is
 * in the mempool ledger. Processes that share a claim store may use the same keys.
 *
 * @throws {FaucetPayerError} `FAUCET_PAYER_CONFIGURATION` if the keys' address belongs to mainnet
 * @example
 * const wallet = createLayer2FaucetWallet({ store, submissions, keys, parameters, slots })
 * const payer = createFaucetPayer({ claims: store.faucetClaims, wallet })
 */
export function createLayer2FaucetWallet(options: Layer2FaucetWalletOptions): FaucetWallet {
  const { store, submissions, keys, parameters, slots, verdictMs = 10_000, now = Date.now } = options
  if (keys.address.networkId !== 0) {
    throw new FaucetPayerError(
      'FAUCET_PAYER_CONFIGURATION',
      'There is no faucet on mainnet: use testnet keys',
    )
  }

  async function isAccepted({ id }: Payment): Promise<boolean> {
    return (await store.transaction(id)) !== undefined
  }

  async function verdict(payment: Payment, submissionId: string): Promise<Sending> {
    const deadline = performance.now() + verdictMs
    for (let poll = firstPollMs; performance.now() < deadline; poll = Math.min(2 * poll, longestPollMs)) {
      if (await isAccepted(payment)) return { kind: 'settled' }
      const rejection = await store.rejections.find(submissionId)
      if (rejection !== undefined) {
        // An earlier submission of the same payment may have been accepted just now.
        if (await isAccepted(payment)) return { kind: 'settled' }
        return { kind: 'rejected', error: new Error(`${rejection.code}: ${rejection.message}`) }
      }
      await delay(poll)
    }
    return { kind: 'unknown', error: new Error(`The payment was not validated within ${verdictMs} ms`) }
  }

  return {
    async prepare(draft) {
      const outputs = await store.utxosAt(keys.address.bytes)
      const unspent = outputs.map(({ reference, output }) => ({
        reference,
        output: decodeTransactionOutput(output),
      }))
      const slot = timeToSlot(slots, BigInt(now()))
      return preparePayment(draft, { keys, unspent, parameters, slots, slot, networkId: 0 })
    },

    async send(payment) {
      try {
        return await verdict(payment, await submissions.add(payment.cbor))
      } catch (error) {
        return { kind: 'unknown', error }
      }
    },

    async status(payment) {
      // The clock first: a payment that is not accepted after its end never will be.
      const expired = now() >= payment.expiresAt.getTime()
      if (await isAccepted(payment)) return 'settled'
      return expired ? 'impossible' : 'possible'
    },
  }
}
