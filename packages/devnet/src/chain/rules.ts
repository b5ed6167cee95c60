import {
  judge,
  judgePhaseOne,
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
import { type AccountView, isStakeRegistration, judgeAccounts } from './accounts.js'

/** What the rules are judged against: unspent outputs and registered stake credentials. */
export interface LedgerView extends UtxoView, AccountView {}

/** The rules of this layer 1, with what they are judged by. */
export interface Rules {
  readonly parameters: ProtocolParameters
  readonly slots: SlotConfig
  /** Both phases, for a transaction that nobody has judged yet. */
  judge(transaction: Transaction, view: LedgerView, slot: bigint): Promise<Verdict>
  /** What may have changed since a transaction was judged: its inputs, its accounts and the slot. */
  judgeAgain(transaction: Transaction, view: LedgerView, slot: bigint): Verdict
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
    async judge(transaction, view, slot) {
      const unsupported = judgeSupport(transaction)
      if (unsupported.length > 0) return unsupported
      const accounts = judgeAccounts(transaction, view, parameters)
      if (accounts.length > 0) return [...accounts, ...judgePhaseOne(transaction, view, context(slot))]
      return judge(transaction, view, context(slot), { evaluator, slots })
    },
    judgeAgain: (transaction, view, slot) => [
      ...judgeAccounts(transaction, view, parameters),
      ...judgeStateful(transaction, view, context(slot)),
    ],
  }
}

/** What layer 2 refuses as well, except what is judged here: failing scripts, withdrawals, the registration of stake keys. */
const judgedHere = new Set([
  'InvalidTransactionsNotSupported',
  'WithdrawalsNotSupported',
  'CertificatesNotSupported',
])

/** There is no delegation and no governance here: whatever needs more than registered credentials is refused by name. */
function judgeSupport(transaction: Transaction): Verdict {
  const unsupported = judgeProfile(transaction).filter(({ predicate }) => !judgedHere.has(predicate))
  const certificates = transaction.body.certificates.filter((each) => !isStakeRegistration(each))
  if (certificates.length === 0) return unsupported
  const message = 'The devnet has no delegation, no pools and no governance'
  const details = { certificates: certificates.map(({ kind }) => kind) }
  return [...unsupported, { predicate: 'CertificatesNotSupported', message, details }]
}
