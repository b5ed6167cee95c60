import type { OutputReference, ProtocolParameters, SlotConfig } from '@ratatosk/ledger'
import type { EvaluatedRedeemer, Tip, TransactionStatus, Utxo } from '../types.js'

/**
 * The part of a {@link Layer1} that differs from one provider to the next. What holds for all of them – the time of a call, the
 * network, safe submission, waiting – is in `createLayer1`.
 */
export interface Provider {
  readonly name: string
  readonly networkId: 0 | 1
  /** Milliseconds between two looks for a transaction. */
  readonly pollMs: number

  utxosAt(address: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByUnit(unit: string, signal: AbortSignal): Promise<readonly Utxo[]>
  utxosByReferences(references: readonly OutputReference[], signal: AbortSignal): Promise<readonly Utxo[]>
  parameters(signal: AbortSignal): Promise<ProtocolParameters>
  tip(signal: AbortSignal): Promise<Tip>
  slots(signal: AbortSignal): Promise<SlotConfig>
  /** Where it is absent, the machine's clock tells it. */
  currentSlot?(signal: AbortSignal): Promise<bigint>
  /** Rejects with `wrong network` where the other side serves another one. */
  checkNetwork(signal: AbortSignal): Promise<void>
  /** One attempt; its answer is the transaction's id in the provider's words. */
  send(cbor: Uint8Array, signal: AbortSignal): Promise<string>
  status(transactionId: string, signal: AbortSignal): Promise<TransactionStatus>
  evaluate(cbor: Uint8Array, signal: AbortSignal): Promise<readonly EvaluatedRedeemer[]>
}
