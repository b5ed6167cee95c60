import type { OutputReference } from '@ratatosk/ledger'
import type { Payment, UnsettledPayment } from '@ratatosk/ports'

/** A payment to build. */
export interface PaymentDraft {
  /** Bytes of the recipient's address (CIP-19). */
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** Lovelace that the wallet must hold in addition to the amount; the fee is taken from it. */
  readonly minBalance: bigint
  /**
   * Payments whose outcome is not final, in the order in which they were recorded. The outputs that they
   * spend are not spent again. The change of those that were accepted may be spent.
   */
  readonly underWay: readonly UnsettledPayment[]
}

/** The outcome of {@link FaucetWallet.prepare}. */
export type Preparation =
  | {
      readonly kind: 'prepared'
      readonly payment: Payment
      /** The outputs of the wallet that the payment spends. */
      readonly spends: readonly OutputReference[]
    }
  /** The wallet can pay once payments under way are accepted. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'depleted' }

/** The outcome of {@link FaucetWallet.send}. */
export type Sending =
  /** The payment is final. */
  | { readonly kind: 'settled' }
  /** The network has accepted the payment. */
  | { readonly kind: 'accepted' }
  /** The network rejected the payment, and this call did not get it accepted. */
  | { readonly kind: 'rejected'; readonly error: unknown }
  /** The payment did not reach the network. */
  | { readonly kind: 'unsent'; readonly error: unknown }
  /** The payment may have reached the network. */
  | { readonly kind: 'unknown'; readonly error: unknown }

/**
 * The network's knowledge of a payment. `settled`: it is final. `accepted`: the network has it. `possible`:
 * the network does not know it, and may still accept it. `impossible`: it was not included and never will be.
 */
export type PaymentStatus = 'settled' | 'accepted' | 'possible' | 'impossible'

/**
 * The faucet's funds on one layer. A wallet is stateless: the caller passes the payments that are under way,
 * so processes that share a claim store may share the keys.
 */
export interface FaucetWallet {
  /**
   * Builds and signs a payment without sending it.
   *
   * @throws (rejects) when the network cannot be read
   */
  prepare(draft: PaymentDraft): Promise<Preparation>
  /**
   * Sends a payment. Sending the same bytes again has no further effect. Never rejects: network failures are
   * outcomes.
   */
  send(payment: Payment): Promise<Sending>
  /**
   * Looks a payment up.
   *
   * @throws (rejects) when the network cannot be read
   */
  status(payment: Payment): Promise<PaymentStatus>
}
