import {
  CborReader,
  type Certificate,
  type Credential,
  type Transaction,
  toHex,
  type Verdict,
} from '@ratatosk/ledger'

/** Which stake credentials are registered. There is no delegation and there are no rewards, so that is all there is of stake. */
export interface AccountView {
  /** @returns the deposit paid for a registered credential, in lovelace; undefined where it is not registered */
  deposit(credential: string): bigint | undefined
}

export interface Accounts extends AccountView {
  /** @returns takes the transaction's registrations back */
  apply(transaction: Transaction): () => void
}

const supported = new Set(['stake_registration', 'stake_deregistration', 'reg_cert', 'unreg_cert'])

export function isStakeRegistration({ kind }: Certificate): boolean {
  return supported.has(kind)
}

/** A key for maps: `key:<56 hex digits>` or `script:<56 hex digits>`. */
export function credentialKey({ kind, hash }: Credential): string {
  return `${kind}:${toHex(hash)}`
}

/** @param before what is registered already; `undefined`: nothing */
export function createAccounts(keyDeposit: bigint, before?: AccountView): Accounts {
  const deposits = new Map<string, bigint | undefined>()
  return {
    deposit: (credential) =>
      deposits.has(credential) ? deposits.get(credential) : before?.deposit(credential),
    apply(transaction) {
      if (!transaction.isValid) return () => {}
      const undo = transaction.body.certificates.filter(isStakeRegistration).map((certificate) => {
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
 * The rules of DELEG and CERTS, as far as they are about registration: every credential is registered once, with the deposit
 * of the parameters, and unregistered for what was paid; a withdrawal is from a registered account, of its reward, which is
 * nothing. Withdrawals come before certificates. Since protocol version 10 a key's withdrawal also needs a delegation to a
 * DRep, which nobody has here.
 */
export function judgeAccounts(
  { body }: Transaction,
  accounts: AccountView,
  {
    keyDeposit,
    protocolVersion,
  }: { readonly keyDeposit: bigint; readonly protocolVersion: { readonly major: number } },
): Verdict {
  const failures: Verdict[number][] = []
  for (const { account, lovelace } of body.withdrawals) {
    if (account.kind !== 'reward') continue
    const credential = credentialKey(account.stake)
    const details = { account: toHex(account.bytes), lovelace: String(lovelace) }
    if (accounts.deposit(credential) === undefined || lovelace > 0n) {
      const message = 'A withdrawal is not of the whole reward of a registered account'
      failures.push({ predicate: 'WithdrawalsNotInRewardsCERTS', message, details })
    } else if (account.stake.kind === 'key' && protocolVersion.major >= 10) {
      const message = 'The account is not delegated to a DRep'
      failures.push({
        predicate: 'ConwayWdrlNotDelegatedToDRep',
        message,
        details: { ...details, credential },
      })
    }
  }
  const here = new Map<string, bigint | undefined>()
  for (const certificate of body.certificates) {
    const credential = credentialKey(stakeCredentialOf(certificate))
    const paid = here.has(credential) ? here.get(credential) : accounts.deposit(credential)
    const details = { credential }
    if (registers(certificate)) {
      const deposit = certificate.deposit ?? keyDeposit
      if (paid !== undefined) {
        const message = 'The credential is registered already'
        failures.push({ predicate: 'StakeKeyRegisteredDELEG', message, details })
      } else if (deposit !== keyDeposit) failures.push(wrongDeposit(credential, deposit, keyDeposit))
      here.set(credential, deposit)
    } else {
      const refund = certificate.deposit === undefined ? undefined : -certificate.deposit
      if (paid === undefined) {
        const message = 'The credential is not registered'
        failures.push({ predicate: 'StakeKeyNotRegisteredDELEG', message, details })
      } else if (refund !== undefined && refund !== paid)
        failures.push(wrongDeposit(credential, refund, paid))
      here.set(credential, undefined)
    }
  }
  return failures
}

function wrongDeposit(credential: string, provided: bigint, expected: bigint): Verdict[number] {
  return {
    predicate: 'IncorrectDepositDELEG',
    message: `The certificate names ${provided} lovelace, the deposit is ${expected}`,
    details: { credential, provided: String(provided), expected: String(expected) },
  }
}

/** Of a stake registration: whether it registers. */
export function registers({ kind }: Certificate): boolean {
  return kind === 'stake_registration' || kind === 'reg_cert'
}

/** The first field after the number, in all of these certificates: `[0 or 1, hash]`. */
export function stakeCredentialOf({ bytes }: Certificate): Credential {
  const reader = new CborReader(bytes)
  reader.readArray()
  reader.readUint()
  reader.readArray()
  const kind = reader.readUint() === 0 ? 'key' : 'script'
  return { kind, hash: reader.readBytes() }
}
