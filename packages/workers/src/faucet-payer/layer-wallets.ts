import { setTimeout as delay } from 'node:timers/promises'
import { isLayer1Error, type Layer1 } from '@ratatosk/layer1'
import {
  decodeTransactionOutput,
  type ProtocolParameters,
  type SlotConfig,
  slotToTime,
  timeToSlot,
  type Utxo,
} from '@ratatosk/ledger'
import { isWalletError, type WalletKeys } from '@ratatosk/ledger/builder'
import type { Payment } from '@ratatosk/ports'
import type { SubmissionQueue } from '@ratatosk/queue'
import type { Store } from '@ratatosk/store'
import {
  FaucetPayerError,
  type FaucetWallet,
  type PaymentDraft,
  type Preparation,
  preparePayment,
  type Sending,
} from './wallet.js'

/** Options of {@link createLayer1FaucetWallet}. */
export interface Layer1FaucetWalletOptions {
  readonly layer1: Layer1
  /** Only the faucet may spend from this wallet. */
  readonly keys: WalletKeys
}

/** Age limit of the list of unspent outputs, so that concurrent claims share a request. */
const maxAgeMs = 2_000

/** How long a payment must have been in the chain to be final, as far as a faucet is concerned. */
const settledAfterMs = 120_000n

/**
 * The faucet's funds on layer 1. Processes that share a claim store may use the same keys.
 *
 * @throws {FaucetPayerError} `FAUCET_PAYER_CONFIGURATION` if keys and layer 1 belong to different networks
 * @example
 * const payer = createFaucetPayer({ claims: store.faucetClaims, wallet: createLayer1FaucetWallet({ layer1,
 * keys }) })
 */
export function createLayer1FaucetWallet({ layer1, keys }: Layer1FaucetWalletOptions): FaucetWallet {
  if (keys.address.networkId !== layer1.networkId) {
    throw new FaucetPayerError(
      'FAUCET_PAYER_CONFIGURATION',
      `The faucet's keys have network id ${keys.address.networkId}, ${layer1.name} has ${layer1.networkId}`,
    )
  }
  let latest: { readonly at: number; readonly unspent: Promise<readonly Utxo[]> } | undefined

  function readUnspent(): Promise<readonly Utxo[]> {
    const unspent = layer1.utxosAt(keys.addressText)
    latest = { at: performance.now(), unspent }
    unspent.catch(forget)
    return unspent
  }

  function forget(): void {
    latest = undefined
  }

  async function prepareFrom(draft: PaymentDraft, reading: Promise<readonly Utxo[]>): Promise<Preparation> {
    const { networkId } = layer1
    const [unspent, parameters, slots, slot] = await Promise.all([
      reading,
      layer1.parameters(),
      layer1.slots(),
      layer1.currentSlot(),
    ])
    return preparePayment(draft, { keys, unspent, parameters, slots, slot, networkId })
  }

  return {
    async prepare(draft) {
      if (latest !== undefined && performance.now() - latest.at < maxAgeMs) {
        const preparation = await prepareFrom(draft, latest.unspent)
        if (preparation.kind === 'prepared') return preparation
      }
      return prepareFrom(draft, readUnspent())
    },

    async send({ cbor }) {
      try {
        await layer1.submit(cbor)
        return { kind: 'accepted' }
      } catch (error) {
        forget()
        return { kind: failureOf(error), error }
      }
    },

    async status({ id, expiresAt }) {
      // The tip first: a payment that is not in the chain after the tip has passed its end never will be.
      const [tip, slots] = await Promise.all([layer1.tip(), layer1.slots()])
      const time = slotToTime(slots, tip.slot)
      const found = await layer1.status(id)
      if (found.kind === 'confirmed') {
        return time - slotToTime(slots, found.slot) >= settledAfterMs ? 'settled' : 'accepted'
      }
      if (found.kind === 'pending') return 'accepted'
      return time >= BigInt(expiresAt.getTime()) ? 'impossible' : 'possible'
    },
  }
}

/** The rejection of this call; if a retry may have reached the network, that retry's error instead. */
function failureOf(error: unknown): Exclude<Sending['kind'], 'settled' | 'accepted'> {
  if (!isLayer1Error(error)) return 'unknown'
  if (error.code === 'LAYER1_REJECTED') return 'rejected'
  return error.mayHaveEffect ? 'unknown' : 'unsent'
}

/** Options of {@link createLayer2FaucetWallet}. */
export interface Layer2FaucetWalletOptions {
  readonly store: Pick<Store, 'utxoPages' | 'transaction'> & {
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
const maxPollMs = 250

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
    for (let poll = firstPollMs; performance.now() < deadline; poll = Math.min(2 * poll, maxPollMs)) {
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

  function prepareFrom(draft: PaymentDraft, unspent: readonly Utxo[]): Promise<Preparation> {
    const slot = timeToSlot(slots, BigInt(now()))
    return preparePayment(draft, { keys, unspent, parameters, slots, slot, networkId: 0 })
  }

  return {
    // Anyone can send any number of outputs to the address, so no more of them are read than a payment
    // takes. Of an output that was not read, or was made by a payment whose inputs were not, it is only
    // unknown that it could be spent.
    async prepare(draft) {
      const unspent: Utxo[] = []
      let [pages, attemptAt] = [0, 1]
      for await (const page of store.utxoPages(keys.address.bytes)) {
        for (const { reference, output } of page)
          unspent.push({ reference, output: decodeTransactionOutput(output) })
        pages += 1
        if (pages < attemptAt) continue
        attemptAt *= 2
        const preparation = await prepareFrom(draft, unspent).catch(unlessRefused)
        if (preparation?.kind === 'prepared') return preparation
      }
      return prepareFrom(draft, unspent)
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

/** A payment that outputs with many tokens make too large may be possible with others. */
function unlessRefused(error: unknown): undefined {
  if (!isWalletError(error)) throw error
}
