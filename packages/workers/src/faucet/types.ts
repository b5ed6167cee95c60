import type { OutputReference } from '@ratatosk/ledger'
import type { FaucetPayment } from '@ratatosk/store'

/** Whom to pay, and out of what. */
export interface FaucetPaymentDraft {
  /** Bytes of the address (CIP-19). */
  readonly address: Uint8Array
  readonly lovelace: bigint
  /** Lovelace that the wallet must have beside it; the fee is taken from there. */
  readonly floor: bigint
  /** Payments whose end is not known, in their order; `accepted`: the network has it, so that its change can be spent. */
  readonly underWay: readonly { readonly payment: FaucetPayment; readonly accepted: boolean }[]
}

export type FaucetPreparation =
  | {
      readonly kind: 'prepared'
      readonly payment: FaucetPayment
      readonly spends: readonly OutputReference[]
    }
  /** What the wallet lacks now it will have once payments under way are accepted. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'depleted' }

/** `settled`: for good; `accepted`: the network has it; `unsent`: it did not arrive; `unknown`: it may have arrived. */
export type FaucetSending =
  | { readonly kind: 'settled' | 'accepted' }
  | { readonly kind: 'rejected' | 'unsent' | 'unknown'; readonly error: unknown }

/** The faucet's money on one layer, as `@ratatosk/faucet` asks for it. */
export interface FaucetWallet {
  prepare(draft: FaucetPaymentDraft): Promise<FaucetPreparation>
  send(payment: FaucetPayment): Promise<FaucetSending>
  status(payment: FaucetPayment): Promise<'settled' | 'accepted' | 'possible' | 'impossible'>
}
