import { toHex } from '../bytes.js'
import type { Transaction } from '../transaction/types.js'
import { Findings, type Verdict } from './verdict.js'

/**
 * What a layer 2 refuses of transactions that layer 1 would judge: whatever needs stake or governance state, and
 * scripts that are known to fail. These names are ours; all other rules are the ledger's, unchanged.
 *
 * A script may still withdraw nothing: that is how scripts observe a whole transaction. A key has no such use of it, and
 * whether it has an account that it could withdraw from is stake state.
 */
export function judgeProfile({ body, isValid }: Transaction): Verdict {
  const findings = new Findings()
  if (body.certificates.length > 0) {
    findings.add('CertificatesNotSupported', 'This layer has no stake and no delegation', {
      certificates: body.certificates.map(({ kind }) => kind),
    })
  }
  const withdrawals = body.withdrawals.filter(
    ({ account, lovelace }) => lovelace > 0n || account.kind !== 'reward' || account.stake.kind === 'key',
  )
  if (withdrawals.length > 0) {
    findings.add(
      'WithdrawalsNotSupported',
      'This layer has no rewards: only a script may withdraw, and only zero',
      {
        withdrawals: withdrawals.map(({ account, lovelace }) => ({
          account: toHex(account.bytes),
          lovelace: String(lovelace),
        })),
      },
    )
  }
  if (body.votingProcedures.length > 0) {
    findings.add('VotesNotSupported', 'This layer has no governance', { votes: body.votingProcedures.length })
  }
  if (body.proposalProcedures.length > 0) {
    findings.add('ProposalsNotSupported', 'This layer has no governance', {
      proposals: body.proposalProcedures.map(({ kind }) => kind),
    })
  }
  if (body.treasuryDonation > 0n) {
    findings.add('DonationsNotSupported', 'This layer has no treasury', {
      lovelace: String(body.treasuryDonation),
    })
  }
  if (body.currentTreasury !== undefined) {
    findings.add('TreasuryValueNotSupported', 'This layer has no treasury', {
      lovelace: String(body.currentTreasury),
    })
  }
  if (!isValid) {
    findings.add('InvalidTransactionsNotSupported', 'A transaction marked as failing is never included here')
  }
  return findings.failures
}
