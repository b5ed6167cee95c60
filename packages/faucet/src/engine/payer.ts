import { setTimeout as pause } from 'node:timers/promises'
import { equalBytes, toHex } from '@ratatosk/ledger'
import type { ClaimStore, Conclusion, FaucetWallet, HeldClaim, Payment } from '../ports.js'
import type { ClaimResult, Log } from '../types.js'

export interface PayerOptions {
  readonly claims: ClaimStore
  readonly wallet: FaucetWallet
  /** Lovelace. */
  readonly minBalance: bigint
  readonly patienceMs: number
  readonly log: Log | undefined
  /** Told of payments whose end is not known yet. */
  readonly onUnderWay: () => void
  /** Told when money is waited for that no payment of this process brings. */
  readonly onStalled: () => void
}

/** Between two looks whether money under way has come. */
const lookMs = 250

/**
 * Pays claims that this process holds. Payments are built and kept one after another, so that no two spend the same output, and sent
 * side by side.
 */
export class Payer {
  readonly #options: PayerOptions
  #turn: Promise<unknown> = Promise.resolve()
  #waiting: (() => void)[] = []

  constructor(options: PayerOptions) {
    this.#options = options
  }

  /** Carries a claim to its end, and ends the hold. `lost`: it ended before, and nothing was done. */
  async pay(claim: HeldClaim): Promise<ClaimResult | 'lost'> {
    const { claims, wallet, patienceMs } = this.#options
    const deadline = performance.now() + patienceMs
    // Until something is sent, a claim that was not under way before fails without a trace.
    let fallback: Conclusion = claim.state === 'failed' ? 'failed' : 'undecided'
    try {
      if (claim.payment !== undefined) {
        const status = await wallet.status(claim.payment)
        if (status === 'settled' || status === 'accepted') {
          if (claim.state === 'failed') await claims.keep(claim, claim.payment, [])
          return await this.#funded(claim, claim.payment, status === 'settled' ? 'settled' : 'funded')
        }
        if (status === 'possible' && claim.state === 'reserved') {
          return await this.#deliver(claim, claim.payment, 'undecided')
        }
      }
      const payment = await this.#inTurn(() => this.#prepare(claim, deadline))
      if (payment === 'depleted') {
        await claims.conclude(claim, 'failed')
        return { kind: 'depleted' }
      }
      if (payment === 'lost') return 'lost'
      fallback = 'undecided'
      return await this.#deliver(claim, payment, 'failed')
    } catch (error) {
      await claims.conclude(claim, fallback).catch(() => {})
      throw error
    } finally {
      this.#wake()
    }
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run, run)
    this.#turn = result.catch(() => {})
    return result
  }

  /** A payment that is kept and not sent. */
  async #prepare(claim: HeldClaim, deadline: number): Promise<Payment | 'depleted' | 'lost'> {
    const { claims, wallet, minBalance: floor } = this.#options
    const { address, amount: lovelace, payment: earlier } = claim
    if (performance.now() >= deadline) throw new Error('The faucet is busy with other claims')
    for (;;) {
      const all = await claims.underWay()
      const underWay = all.filter(({ payment }) => !earlier || !equalBytes(payment.id, earlier.id))
      const preparation = await wallet.prepare({ address, lovelace, floor, underWay })
      if (preparation.kind === 'depleted') return 'depleted'
      if (preparation.kind === 'prepared') {
        const kept = await claims.keep(claim, preparation.payment, preparation.spends)
        if (kept === 'kept') return preparation.payment
        if (kept === 'lost') return 'lost'
      } else {
        await this.#somethingPaid()
      }
      if (performance.now() >= deadline) return 'depleted'
    }
  }

  /**
   * Sends a payment that is kept.
   *
   * @param refused what a claim becomes whose payment was not taken: one that was sent before may yet be
   */
  async #deliver(claim: HeldClaim, payment: Payment, refused: 'failed' | 'undecided'): Promise<ClaimResult> {
    const { claims, wallet, log } = this.#options
    const sending = await wallet.send(payment)
    const names = { claim: claim.id, transaction: toHex(payment.id) }
    switch (sending.kind) {
      case 'settled':
        return this.#funded(claim, payment, 'settled')
      case 'accepted':
        return this.#funded(claim, payment, 'funded')
      case 'rejected':
        log?.warn({ ...names, err: sending.error }, 'a payment of the faucet was rejected')
        await claims.conclude(claim, refused)
        return { kind: 'validation-failed' }
      case 'unsent':
        log?.warn({ ...names, err: sending.error }, 'a payment of the faucet could not be sent')
        await claims.conclude(claim, refused)
        return { kind: 'undecided' }
      case 'unknown':
        log?.warn({ ...names, err: sending.error }, 'it is not known whether a payment of the faucet arrived')
        await claims.conclude(claim, 'undecided')
        this.#options.onUnderWay()
        return { kind: 'undecided' }
    }
  }

  async #funded(claim: HeldClaim, payment: Payment, conclusion: 'funded' | 'settled'): Promise<ClaimResult> {
    const { claims, log, onUnderWay } = this.#options
    const txHash = toHex(payment.id)
    try {
      await claims.conclude(claim, conclusion)
      log?.info(
        { claim: claim.id, transaction: txHash, lovelace: String(claim.amount) },
        'the faucet paid a claim',
      )
    } catch (err) {
      // It is paid all the same; whoever takes the claim next finds its payment.
      log?.warn({ err, claim: claim.id, transaction: txHash }, 'a claim that was paid could not be concluded')
    }
    if (conclusion === 'funded') onUnderWay()
    return {
      kind: 'funded',
      claimId: claim.id,
      txHash,
      amount: claim.amount,
      nextEligibleAt: claim.nextEligibleAt,
    }
  }

  /** Until a claim of this process has come to an end, or long enough for one of another's. */
  async #somethingPaid(): Promise<void> {
    const stop = new AbortController()
    const paid = new Promise<void>((resolve) => this.#waiting.push(resolve))
    const stalled = pause(lookMs, undefined, { signal: stop.signal }).then(this.#options.onStalled, () => {})
    await Promise.race([paid, stalled])
    stop.abort()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
