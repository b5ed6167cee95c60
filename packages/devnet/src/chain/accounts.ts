import { toHex } from '@ratatosk/cbor'
import { isStakeCertificate, registers, stakeCredentialOf } from '@ratatosk/chain-apis'
import type { Credential, Failures, Transaction } from '@ratatosk/ledger'

/** The registered stake credentials: the whole stake state, without delegation and rewards. */
export interface AccountView {
  /** The deposit of a registered credential (see {@link credentialKey}) in lovelace; undefined otherwise. */
  deposit(credential: string): bigint | undefined
}

export interface Accounts extends AccountView {
  /** Applies the stake certificates of a transaction. Returns a function that undoes them. */
  apply(transaction: Transaction): () => void
}

/** A credential as a map key: `key:<56 hex digits>` or `script:<56 hex digits>`. */
export function credentialKey({ kind, hash }: Credential): string {
  return `${kind}:${toHex(hash)}`
}

/** @param base credentials that are registered already; changes are kept on top of it, not in it */
export function createAccounts(keyDeposit: bigint, base?: AccountView): Accounts {
  const deposits = new Map<string, bigint | undefined>()
  return {
    deposit: (credential) =>
      deposits.has(credential) ? deposits.get(credential) : base?.deposit(credential),
    apply(transaction) {
      if (!transaction.isValid) return () => {}
      const undo = transaction.body.certificates.filter(isStakeCertificate).map((certificate) => {
        const credential = credentialKey(stakeCredentialOf(certificate))
        const known = deposits.has(credential)
        const former = deposits.get(credential)
        deposits.set(credential, registers(certificate) ? (certificate.deposit ?? keyDeposit) : undefined)
        return () => (known ? deposits.set(credential, former) : deposits.delete(credential))
      })
      return () => {
        for (const step of undo.reverse()) step()
      }
    },
  }
}

/**
 * The Conway rules DELEG and CERTS for stake credentials: registered once, for the protocol's deposit, and
 * unregistered for the deposit paid. A withdrawal takes a registered account's whole reward, zero, and is
 * checked before certificates. From protocol version 10 on, one by a key also requires delegation to a DRep,
 * which the devnet does not offer.
 */
export function validateAccounts(
  { body }: Transaction,
  accounts: AccountView,
  {
    keyDeposit,
    ledgerVersion,
  }: { readonly keyDeposit: bigint; readonly ledgerVersion: { readonly major: number } },
): Failures {
  const failures: Failures[number][] = []
  for (const { account, lovelace } of body.withdrawals) {
    if (account.kind !== 'reward') continue
    const credential = credentialKey(account.stake)
    const details = { account: toHex(account.bytes), lovelace: String(lovelace) }
    if (accounts.deposit(credential) === undefined || lovelace > 0n) {
      const message = 'A withdrawal must take the whole reward of a registered account'
      failures.push({ predicate: 'WithdrawalsNotInRewardsCERTS', message, details })
    } else if (account.stake.kind === 'key' && ledgerVersion.major >= 10) {
      const message = 'The account is not delegated to a DRep'
      failures.push({
        predicate: 'ConwayWdrlNotDelegatedToDRep',
        message,
        details: { ...details, credential },
      })
    }
  }
  const changed = new Map<string, bigint | undefined>()
  for (const certificate of body.certificates) {
    const credential = credentialKey(stakeCredentialOf(certificate))
    const paid = changed.has(credential) ? changed.get(credential) : accounts.deposit(credential)
    const details = { credential }
    if (registers(certificate)) {
      const deposit = certificate.deposit ?? keyDeposit
      if (paid !== undefined) {
        const message = 'The stake credential is already registered'
        failures.push({ predicate: 'StakeKeyRegisteredDELEG', message, details })
      } else if (deposit !== keyDeposit) failures.push(wrongDeposit(credential, deposit, keyDeposit))
      changed.set(credential, deposit)
    } else {
      const refund = certificate.deposit === undefined ? undefined : -certificate.deposit
      if (paid === undefined) {
        const message = 'The stake credential is not registered'
        failures.push({ predicate: 'StakeKeyNotRegisteredDELEG', message, details })
      } else if (refund !== undefined && refund !== paid)
        failures.push(wrongDeposit(credential, refund, paid))
      changed.set(credential, undefined)
    }
  }
  return failures
}

function wrongDeposit(credential: string, provided: bigint, expected: bigint): Failures[number] {
  return {
    predicate: 'IncorrectDepositDELEG',
    message: `The certificate declares a deposit of ${provided} lovelace, expected ${expected}`,
    details: { credential, provided: String(provided), expected: String(expected) },
  }
}
