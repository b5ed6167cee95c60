import { isLayer1Error, type Layer1 } from '@ratatosk/layer1'
import { slotToTime, type Utxo } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import { FaucetPayerError } from './errors.js'
import { preparePayment } from './prepare-payment.js'
import type { FaucetWallet, PaymentDraft, Preparation, Sending } from './wallet.js'

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
