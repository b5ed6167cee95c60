import { toHex } from '@ratatosk/cbor'
import type { Transaction } from '../transaction/types.js'
import { validateEncoding } from './encoding.js'
import { type Failures, Findings } from './failures.js'

/**
 * Validates the layer-2 profile: refuses what needs stake or governance state, transactions marked invalid,
 * and encodings that a validator on layer 1 could not read. The predicates of the profile are specific to
 * this package; all other rules are those of the ledger, unchanged.
 *
 * A script may withdraw zero lovelace, because scripts use this to observe the whole transaction. Withdrawals
 * of keys are refused: they have no such use, and whether the account is registered is stake state.
 *
 * @returns every broken rule of the profile; empty if there is none
 */
export function validateProfile(transaction: Transaction): Failures {
  const { body, isValid } = transaction
  const findings = new Findings()
  if (body.certificates.length > 0) {
    findings.add('CertificatesNotSupported', 'Layer 2 has no stake and no delegation', {
      certificates: body.certificates.map(({ kind }) => kind),
    })
  }
  const withdrawals = body.withdrawals.filter(
    ({ account, lovelace }) => lovelace > 0n || account.kind !== 'reward' || account.stake.kind === 'key',
  )
  if (withdrawals.length > 0) {
    findings.add(
      'WithdrawalsNotSupported',
      'Only a script may withdraw, and only zero, because layer 2 has no rewards',
      {
        withdrawals: withdrawals.map(({ account, lovelace }) => ({
          account: toHex(account.bytes),
          lovelace: String(lovelace),
        })),
      },
    )
  }
  if (body.votingProcedures.length > 0) {
    findings.add('VotesNotSupported', 'Layer 2 has no governance', { votes: body.votingProcedures.length })
  }
  if (body.proposalProcedures.length > 0) {
    findings.add('ProposalsNotSupported', 'Layer 2 has no governance', {
      proposals: body.proposalProcedures.map(({ kind }) => kind),
    })
  }
  if (body.treasuryDonation > 0n) {
    findings.add('DonationsNotSupported', 'Layer 2 has no treasury', {
      lovelace: String(body.treasuryDonation),
    })
  }
  if (body.currentTreasury !== undefined) {
    findings.add('TreasuryValueNotSupported', 'Layer 2 has no treasury', {
      lovelace: String(body.currentTreasury),
    })
  }
  if (!isValid) {
    findings.add('InvalidTransactionsNotSupported', 'Layer 2 includes no transaction that is marked invalid')
  }
  validateEncoding(transaction, findings)
  return findings.failures
}
