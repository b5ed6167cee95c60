import type { PlutusScript } from '../script/apply.js'
import { findLedgerFraud } from './find-ledger-fraud.js'
import { findTransactionFraud } from './find-transaction-fraud.js'
import { findWitnessFraud } from './find-witness-fraud.js'
import type { LedgerFraudProof } from './ledger-proofs.js'
import type { SuspectBlock } from './open-block.js'
import type { ProvableRules } from './rules.js'
import { ledgerFraudScript, transactionFraudScript, witnessFraudScript } from './scripts.js'
import type { FoundFraud } from './smallest-proof.js'
import type { TransactionFraudProof } from './transaction-proofs.js'
import type { WitnessFraudProof } from './witness-proofs.js'

/** A fraud that one of the policies proves. */
export type ProvenFraud =
  | ({ readonly policy: 'ledger' } & FoundFraud<LedgerFraudProof>)
  | ({ readonly policy: 'transaction' } & FoundFraud<TransactionFraudProof>)
  | ({ readonly policy: 'witness' } & FoundFraud<WitnessFraudProof>)

/** What is known besides the block. */
export interface FraudSearch {
  /** The rules of the layer 2. Without them, only frauds of the ledger policy are found. */
  readonly rules?: ProvableRules
  /** References, as CBOR, that may differ before and after the block besides those in the transactions map. */
  readonly keys?: Iterable<Uint8Array>
}

/**
 * Looks for a fraud in a block: first in what it does to outputs, then in its transactions. Returns the smallest of the first proofs of the
 * first policy that has one; undefined if there is none. What is not found: see the function of each policy. The proof is not
 * evaluated: do that before it is sent.
 */
export function findFraud(block: SuspectBlock, { rules, keys }: FraudSearch = {}): ProvenFraud | undefined {
  const ledger = findLedgerFraud(block, keys)
  if (ledger !== undefined) return { policy: 'ledger', ...ledger }
  const transaction = rules && findTransactionFraud(block, rules)
  if (transaction !== undefined) return { policy: 'transaction', ...transaction }
  const witness = rules && findWitnessFraud(block, rules.parameters)
  if (witness !== undefined) return { policy: 'witness', ...witness }
  return undefined
}

/**
 * The script that proves frauds of a policy.
 *
 * @param rules see {@link FraudSearch}
 * @throws RangeError without rules, for a policy that has them as parameters
 */
export function fraudScript(policy: ProvenFraud['policy'], rules?: ProvableRules): PlutusScript {
  if (policy === 'ledger') return ledgerFraudScript()
  if (rules === undefined)
    throw new RangeError(`The ${policy} policy has the rules of the layer 2 as parameters`)
  return policy === 'transaction' ? transactionFraudScript(rules) : witnessFraudScript(rules.parameters)
}
