import { toHex } from '@ratatosk/cbor'
import type { ClaimStore, Conclusion, HeldClaim, Log, Payment } from '@ratatosk/ports'
import pLimit from 'p-limit'
import type { ClaimLeases } from './hold-leases.js'
import type { FaucetWallet } from './wallet.js'

interface SettleOptions {
  readonly claims: ClaimStore
  readonly wallet: FaucetWallet
  readonly leases: ClaimLeases
  readonly leaseMs: number
  readonly log: Log | undefined
  /** POSIX milliseconds. */
  readonly now: () => number
}

/** The most claims that one sweep takes, and how many of them are looked up at a time. */
const maxClaims = 1000
const concurrency = 8

/** Finds the unsettled payments that no process holds, and resends those that the network has lost. */
export async function settlePayments(options: SettleOptions): Promise<void> {
  const { claims, leases, leaseMs, log } = options
  const taken = await claims.take(leaseMs, maxClaims)
  const limit = pLimit(concurrency)

  async function settle(claim: HeldClaim): Promise<void> {
    try {
      await claims.conclude(claim, await conclusionOf(claim, options))
    } catch (err) {
      log?.warn({ err, claim: claim.id }, 'Failed to look up a faucet payment; it is looked up again later')
      await claims.conclude(claim, 'undecided').catch(() => {})
    }
  }
  await leases.during(taken, () => Promise.all(taken.map((claim) => limit(settle, claim))))
}

async function conclusionOf(claim: HeldClaim, { wallet, log, now }: SettleOptions): Promise<Conclusion> {
  const { payment } = claim
  if (payment === undefined) return 'undecided'
  switch (await wallet.status(payment)) {
    case 'settled':
      return 'settled'
    case 'accepted':
      return 'funded'
    case 'impossible':
      log?.warn(
        { claim: claim.id, transaction: toHex(payment.id) },
        'A faucet payment expired without being included; its claim failed',
      )
      return 'failed'
    case 'possible':
      return now() < payment.expiresAt.getTime() ? resend(payment, wallet) : 'undecided'
  }
}

async function resend(payment: Payment, wallet: FaucetWallet): Promise<Conclusion> {
  const { kind } = await wallet.send(payment)
  if (kind === 'settled') return 'settled'
  return kind === 'accepted' ? 'funded' : 'undecided'
}
