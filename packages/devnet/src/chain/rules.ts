import {
  judge,
  judgeProfile,
  judgeStateful,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  type Transaction,
  type UtxoView,
  type Verdict,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'

/** The rules of this layer 1, with what they are judged by. */
export interface Rules {
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** Both phases, for a transaction that nobody has judged yet. */
  judge(transaction: Transaction, utxos: UtxoView, slot: bigint): Promise<Verdict>
  /** What may have changed since a transaction was judged: its inputs and the slot. */
  judgeAgain(transaction: Transaction, utxos: UtxoView, slot: bigint): Verdict
}

export function createRules(
  parameters: ProtocolParameters,
  slots: SlotConfig,
  evaluator: Pick<Evaluator, 'evaluate'>,
): Rules {
  const context = (slot: bigint): RuleContext => ({ parameters, networkId: 0, slot })
  return {
    parameters,
    slots,
    async judge(transaction, utxos, slot) {
      const unsupported = needsState(transaction)
      if (unsupported.length > 0) return unsupported
      return judge(transaction, utxos, context(slot), { evaluator, slots })
    },
    judgeAgain: (transaction, utxos, slot) => judgeStateful(transaction, utxos, context(slot)),
  }
}

/** There is no stake and no governance here; but scripts that fail cost their collateral, as on layer 1. */
function needsState(transaction: Transaction): Verdict {
  return judgeProfile(transaction).filter(({ predicate }) => predicate !== 'InvalidTransactionsNotSupported')
}
