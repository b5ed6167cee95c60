import { toHex } from '@ratatosk/ledger'
import type { ClaimStore, Conclusion, FaucetWallet, HeldClaim, Payment } from '../ports.js'
import type { Log } from '../types.js'
import type { Holds } from './holds.js'

export interface SettleOptions {
  readonly claims: ClaimStore
  readonly wallet: FaucetWallet
  readonly holds: Holds
  readonly leaseMs: number
  readonly log: Log | undefined
  /** POSIX milliseconds. */
  readonly now: () => number
}

/** Claims that one sweep takes, and how many it looks at at a time. */
const atOnce = 1000
const sideBySide = 8

/** Finds out what became of the payments under way that nobody holds, and sends those again that the network has lost. */
export async function settlePayments(options: SettleOptions): Promise<void> {
  const { claims, holds, leaseMs, log } = options
  const taken = await claims.take(leaseMs, atOnce)
  const rest = taken.values()

  async function work(): Promise<void> {
    for (const claim of rest) {
      try {
        await claims.conclude(claim, await outcomeOf(claim, options))
      } catch (err) {
        log?.warn({ err, claim: claim.id }, 'what became of a payment of the faucet could not be found out')
        await claims.conclude(claim, 'undecided').catch(() => {})
      }
    }
  }
  await holds.during(taken, () => Promise.all(Array.from({ length: sideBySide }, work)))
}

async function outcomeOf(claim: HeldClaim, { wallet, log, now }: SettleOptions): Promise<Conclusion> {
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
        'a payment of the faucet will never happen; its claim has failed',
      )
      return 'failed'
    case 'possible':
      return now() < payment.expiresAt.getTime() ? sendAgain(payment, wallet) : 'undecided'
  }
}

async function sendAgain(payment: Payment, wallet: FaucetWallet): Promise<Conclusion> {
  const { kind } = await wallet.send(payment)
  if (kind === 'settled') return 'settled'
  return kind === 'accepted' ? 'funded' : 'undecided'
}
