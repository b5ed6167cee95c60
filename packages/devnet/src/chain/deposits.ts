import type { TransactionBody } from '@ratatosk/ledger'

/** What a transaction's certificates pay and get back. Those of the first kind do not say: it is the parameters' deposit. */
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
