import type { OutputReference, ProtocolParameters, SlotConfig, Utxo } from '@ratatosk/ledger'
import type { EvaluatedRedeemer, Spending, Tip, TransactionStatus } from '../types.js'

/** The part of a {@link Layer1} that differs between providers; `createLayer1` adds the rest. */
export interface Provider {
  readonly name: string
  readonly networkId: 0 | 1
  /** Milliseconds between two polls for a transaction. */
  readonly pollMs: number

  /** @param policy only outputs that hold an asset of it */
  utxosAt(address: string, policy: string | undefined, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByUnit(unit: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByPolicy(policyId: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByReferences(references: readonly OutputReference[], signal: AbortSignal): Promise<readonly Utxo[]>
  spending(reference: OutputReference, signal: AbortSignal): Promise<Spending | undefined>
  parameters(signal: AbortSignal): Promise<ProtocolParameters>
  tip(signal: AbortSignal): Promise<Tip>
  slots(signal: AbortSignal): Promise<SlotConfig>
  /** Default: computed from the machine's clock. */
  currentSlot?(signal: AbortSignal): Promise<bigint>
  /** Rejects with `wrong network` if the provider serves another network. */
  checkNetwork(signal: AbortSignal): Promise<void>
  /** One attempt; resolves to the transaction id as the provider gives it. */
  send(cbor: Uint8Array, signal: AbortSignal): Promise<string>
  status(transactionId: string, signal: AbortSignal): Promise<TransactionStatus>
  evaluate(cbor: Uint8Array, signal: AbortSignal): Promise<readonly EvaluatedRedeemer[]>
}
