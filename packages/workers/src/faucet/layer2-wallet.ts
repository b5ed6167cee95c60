import { setTimeout as pause } from 'node:timers/promises'
import type { WalletKeys } from '@ratatosk/layer1'
import {
  decodeTransactionOutput,
  type ProtocolParameters,
  type SlotConfig,
  timeToSlot,
} from '@ratatosk/ledger'
import type { SubmissionQueue } from '@ratatosk/queue'
import type { FaucetPayment, Store } from '@ratatosk/store'
import { preparePayment } from './prepare-payment.js'
import type { FaucetSending, FaucetWallet } from './types.js'

export interface Layer2FaucetWalletOptions {
  readonly store: Pick<Store, 'utxosAt' | 'transaction'> & {
    readonly rejections: Pick<Store['rejections'], 'find'>
  }
  /** The queue of `POST /submit`. */
  readonly submissions: Pick<SubmissionQueue, 'add'>
  /** Of a wallet that the faucet alone spends from. */
  readonly keys: WalletKeys
  /** Those of layer 2, as its validation workers have them; likewise the slots. */
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** How long a payment waits for its verdict, in milliseconds. @defaultValue 10000 */
  readonly verdictMs?: number
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
}

/** Between two looks for it: the first pause, and the longest. */
const firstLookMs = 10
const longestLookMs = 250

/**
 * The faucet's money on layer 2, for `createFaucet` of `@ratatosk/faucet`: a payment is submitted as everybody's transactions are, and
 * is settled once it is in the mempool ledger. Several processes may use the same keys where they share their claims.
 *
 * @throws {TypeError} where the keys' address belongs to mainnet
 * @example
 * const wallet = createLayer2FaucetWallet({ store, submissions, keys, parameters, slots })
 * const faucet = createFaucet({ claims: store.faucetClaims, wallet })
 */
export function createLayer2FaucetWallet(options: Layer2FaucetWalletOptions): FaucetWallet {
  const { store, submissions, keys, parameters, slots, verdictMs = 10_000, now = Date.now } = options
  if (keys.address.networkId !== 0) throw new TypeError('There is no faucet on mainnet')

  async function isAccepted({ id }: FaucetPayment): Promise<boolean> {
    return (await store.transaction(id)) !== undefined
  }

  async function verdict(payment: FaucetPayment, submission: string): Promise<FaucetSending> {
    const deadline = performance.now() + verdictMs
    for (let look = firstLookMs; performance.now() < deadline; look = Math.min(2 * look, longestLookMs)) {
      if (await isAccepted(payment)) return { kind: 'settled' }
      const rejection = await store.rejections.find(submission)
      if (rejection !== undefined) {
        // It may have been submitted before, and accepted just now.
        if (await isAccepted(payment)) return { kind: 'settled' }
        return { kind: 'rejected', error: new Error(`${rejection.code}: ${rejection.message}`) }
      }
      await pause(look)
    }
    return { kind: 'unknown', error: new Error('The transaction was not validated in time') }
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
      // The clock first: what is not accepted after its end will not be.
      const expired = now() >= payment.expiresAt.getTime()
      if (await isAccepted(payment)) return 'settled'
      return expired ? 'impossible' : 'possible'
    },
  }
}
