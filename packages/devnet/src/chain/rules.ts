import { isStakeCertificate } from '@ratatosk/chain-apis'
import {
  type Failures,
  forecastHorizon,
  type ProtocolParameters,
  type RuleContext,
  type SlotConfig,
  type Transaction,
  type UtxoView,
  validate,
  validatePhaseOne,
  validateProfile,
  validateStateful,
} from '@ratatosk/ledger'
import type { Evaluator } from '@ratatosk/ledger/plutus'
import { type AccountView, validateAccounts } from './accounts.js'

/** The state that transactions are validated against: unspent outputs and registered stake credentials. */
export interface LedgerView extends UtxoView, AccountView {}

/** The ledger rules, bound to the protocol parameters. Each method returns all violated predicates. */
export interface ChainRules {
  readonly parameters: ProtocolParameters
  /** Both phases, for a new transaction. */
  validate(transaction: Transaction, view: LedgerView, slot: bigint): Promise<Failures>
  /** The rules whose outcome can change after validation: inputs, accounts and validity interval. */
  revalidate(transaction: Transaction, view: LedgerView, slot: bigint): Failures
}

export function createRules(
  parameters: ProtocolParameters,
  slots: SlotConfig,
  evaluator: Pick<Evaluator, 'evaluate'>,
): ChainRules {
  const context = (slot: bigint): RuleContext => ({ parameters, networkId: 0, slot })
  // For new transactions only: after a roll-back, it would end earlier.
  const contextOfNew = (slot: bigint) => ({ ...context(slot), forecastHorizon: forecastHorizon(slot) })
  return {
    parameters,
    async validate(transaction, view, slot) {
      const unsupported = findUnsupported(transaction)
      if (unsupported.length > 0) return unsupported
      const accounts = validateAccounts(transaction, view, parameters)
      if (accounts.length > 0)
        return [...accounts, ...validatePhaseOne(transaction, view, contextOfNew(slot))]
      return validate(transaction, view, contextOfNew(slot), { evaluator, slots })
    },
    revalidate: (transaction, view, slot) => [
      ...validateAccounts(transaction, view, parameters),
      ...validateStateful(transaction, view, context(slot)),
    ],
  }
}

/** The parts that neither layer 2 nor the devnet supports; certificates are judged one by one. */
const unsupportedHere = new Set([
  'VotesNotSupported',
  'ProposalsNotSupported',
  'DonationsNotSupported',
  'TreasuryValueNotSupported',
])

/** Rejects what the devnet does not implement: delegation, pools, governance and donations. */
function findUnsupported(transaction: Transaction): Failures {
  const unsupported = validateProfile(transaction).filter(({ predicate }) => unsupportedHere.has(predicate))
  const certificates = transaction.body.certificates.filter((each) => !isStakeCertificate(each))
  if (certificates.length === 0) return unsupported
  const message = 'The devnet does not support delegation, pools or governance'
  const details = { certificates: certificates.map(({ kind }) => kind) }
  return [...unsupported, { predicate: 'CertificatesNotSupported', message, details }]
}
