import { isLayer1Error, type Layer1, type Utxo, type WalletKeys } from '@ratatosk/layer1'
import { slotToTime, toHex } from '@ratatosk/ledger'
import { preparePayment } from './prepare-payment.js'
import type { FaucetPaymentDraft, FaucetPreparation, FaucetSending, FaucetWallet } from './types.js'

export interface Layer1FaucetWalletOptions {
  readonly layer1: Layer1
  /** Of a wallet that the faucet alone spends from. */
  readonly keys: WalletKeys
}

/**
 * How old what the network says of the wallet's outputs may be, so that claims at the same time ask once. What is settled left them
 * long before that, and what is under way is known from the claims.
 */
const freshMs = 2_000

/** How long a payment is in the chain before nothing undoes it any more, as far as a faucet is concerned. */
const settledAfterMs = 120_000n

/**
 * The faucet's money on layer 1, for `createFaucet` of `@ratatosk/faucet`. Several processes may use the same keys where
 * they share their claims.
 *
 * @throws {TypeError} where keys and layer 1 belong to different networks
 * @example
 * const faucet = createFaucet({ claims: store.faucetClaims, wallet: createLayer1FaucetWallet({ layer1, keys }) })
 */
export function createLayer1FaucetWallet({ layer1, keys }: Layer1FaucetWalletOptions): FaucetWallet {
  if (keys.address.networkId !== layer1.networkId) {
    throw new TypeError(`The keys' address is not of the network of ${layer1.name}`)
  }
  let seen: { readonly at: number; readonly unspent: Promise<readonly Utxo[]> } | undefined

  function look(): Promise<readonly Utxo[]> {
    const unspent = layer1.utxosAt(keys.addressText)
    seen = { at: performance.now(), unspent }
    unspent.catch(forget)
    return unspent
  }

  function forget(): void {
    seen = undefined
  }

  async function prepareFrom(
    draft: FaucetPaymentDraft,
    looked: Promise<readonly Utxo[]>,
  ): Promise<FaucetPreparation> {
    const { networkId } = layer1
    const [unspent, parameters, slots, slot] = await Promise.all([
      looked,
      layer1.parameters(),
      layer1.slots(),
      layer1.currentSlot(),
    ])
    return preparePayment(draft, { keys, unspent, parameters, slots, slot, networkId })
  }

  return {
    async prepare(draft) {
      if (seen !== undefined && performance.now() - seen.at < freshMs) {
        const preparation = await prepareFrom(draft, seen.unspent)
        if (preparation.kind === 'prepared') return preparation
      }
      return prepareFrom(draft, look())
    },

    async send({ cbor }) {
      try {
        await layer1.submit(cbor)
        return { kind: 'accepted' }
      } catch (error) {
        forget()
        return { kind: kindOf(error), error }
      }
    },

    async status({ id, expiresAt }) {
      // The tip first: what is not in the chain after it has passed the end will not be.
      const [tip, slots] = await Promise.all([layer1.tip(), layer1.slots()])
      const time = slotToTime(slots, tip.slot)
      const found = await layer1.status(toHex(id))
      if (found.kind === 'confirmed') {
        return time - slotToTime(slots, found.slot) >= settledAfterMs ? 'settled' : 'accepted'
      }
      if (found.kind === 'pending') return 'accepted'
      return time >= BigInt(expiresAt.getTime()) ? 'impossible' : 'possible'
    },
  }
}

/**
 * A rejection is about this attempt, whatever came of earlier ones: where one of the same call was lost, its error is thrown
 * instead.
 */
function kindOf(error: unknown): Exclude<FaucetSending['kind'], 'settled' | 'accepted'> {
  if (!isLayer1Error(error)) return 'unknown'
  if (error.kind === 'rejected') return 'rejected'
  return error.mayHaveEffect ? 'unknown' : 'unsent'
}
