import { CborReader } from '@ratatosk/cbor'
import type { Certificate, Credential, TransactionBody } from '@ratatosk/ledger'

const stakeCertificates = new Set(['stake_registration', 'stake_deregistration', 'reg_cert', 'unreg_cert'])

/** True for the certificates that register or unregister a stake credential. */
export function isStakeCertificate({ kind }: Certificate): boolean {
  return stakeCertificates.has(kind)
}

/** True if a stake certificate registers its credential, false if it unregisters it. */
export function registers({ kind }: Certificate): boolean {
  return kind === 'stake_registration' || kind === 'reg_cert'
}

/** The credential of a stake certificate: the field after the tag, `[0 / 1, hash]` in the CDDL. */
export function stakeCredentialOf({ bytes }: Certificate): Credential {
  const reader = new CborReader(bytes)
  reader.readArray()
  reader.readUint()
  reader.readArray()
  const kind = reader.readUint() === 0 ? 'key' : 'script'
  return { kind, hash: reader.readBytes() }
}

/**
 * The deposits that a transaction's stake certificates pay and get back, in lovelace.
 *
 * @param keyDeposit the deposit of the protocol parameters, which the certificates of the Shelley era do not
 *   repeat
 */
export function deposits(
  { certificates }: TransactionBody,
  keyDeposit: bigint,
): { readonly paid: bigint; readonly refunded: bigint } {
  const sum = { paid: 0n, refunded: 0n }
  for (const { kind, deposit } of certificates) {
    if (kind === 'stake_registration') sum.paid += keyDeposit
    else if (kind === 'stake_deregistration') sum.refunded += keyDeposit
    else if (deposit !== undefined && deposit > 0n) sum.paid += deposit
    else sum.refunded -= deposit ?? 0n
  }
  return sum
}
