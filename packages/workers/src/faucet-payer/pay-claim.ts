import { EventEmitter, once } from 'node:events'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type { ClaimResult, ClaimStore, Conclusion, HeldClaim, Log, Payment } from '@ratatosk/ports'
import { Mutex } from 'async-mutex'
import { FaucetPayerError } from './errors.js'
import type { FaucetWallet } from './wallet.js'

interface ClaimPaymentsOptions {
  readonly claims: ClaimStore
  readonly wallet: FaucetWallet
  /** Lovelace. */
  readonly minBalance: bigint
  /** How long a claim waits for the wallet before it fails, in milliseconds. */
  readonly timeoutMs: number
  readonly log: Log | undefined
  /** Called when a payment was sent whose outcome is not final yet. */
  readonly onUnsettled: () => void
  /** Called when a claim waits for funds that no claim of this process has released lately. */
  readonly onStalled: () => void
}

/** How long a claim waits for another of this process to release funds before it reads the store again. */
const stallMs = 250

/** Pays claims of this process. Payments are recorded one at a time, so that no two spend the same output. */
export class ClaimPayments {
  readonly #options: ClaimPaymentsOptions
  readonly #wallet = new Mutex()
  readonly #claims = new EventEmitter<{ ended: [] }>()

  constructor(options: ClaimPaymentsOptions) {
    this.#options = options
  }

  /** Pays a claim and ends the hold. `lost`: the hold had ended before, and nothing was done. */
  async pay(claim: HeldClaim): Promise<ClaimResult | 'lost'> {
    const { claims, wallet, timeoutMs } = this.#options
    const deadline = performance.now() + timeoutMs
    // A new claim fails without consequences until something is sent.
    let conclusionOnError: Conclusion = claim.state === 'failed' ? 'failed' : 'undecided'
    try {
      if (claim.payment !== undefined) {
        const status = await wallet.status(claim.payment)
        if (status === 'settled' || status === 'accepted') {
          if (claim.state === 'failed') await claims.keep(claim, claim.payment, [])
          return await this.#conclude(claim, claim.payment, status === 'settled' ? 'settled' : 'funded')
        }
        if (status === 'possible' && claim.state === 'reserved') {
          return await this.#send(claim, claim.payment, 'undecided')
        }
      }
      const payment = await this.#wallet.runExclusive(() => this.#prepare(claim, deadline))
      if (payment === 'depleted') {
        await claims.conclude(claim, 'failed')
        return { kind: 'depleted' }
      }
      if (payment === 'lost') return 'lost'
      conclusionOnError = 'undecided'
      return await this.#send(claim, payment, 'failed')
    } catch (error) {
      await claims.conclude(claim, conclusionOnError).catch(() => {})
      throw error
    } finally {
      this.#claims.emit('ended')
    }
  }

  /** Builds a payment and records it. */
  async #prepare(claim: HeldClaim, deadline: number): Promise<Payment | 'depleted' | 'lost'> {
    const { claims, wallet, minBalance } = this.#options
    const { address, amount: lovelace, payment: earlier } = claim
    if (performance.now() >= deadline) {
      throw new FaucetPayerError('FAUCET_PAYER_BUSY', 'Other claims kept the wallet of the faucet busy')
    }
    for (;;) {
      const all = await claims.underWay()
      const underWay = all.filter(({ payment }) => !earlier || !equalBytes(payment.id, earlier.id))
      const preparation = await wallet.prepare({ address, lovelace, minBalance, underWay })
      if (preparation.kind === 'depleted') return 'depleted'
      if (preparation.kind === 'prepared') {
        const kept = await claims.keep(claim, preparation.payment, preparation.spends)
        if (kept === 'kept') return preparation.payment
        if (kept === 'lost') return 'lost'
      } else {
        await this.#fundsReleased()
      }
      if (performance.now() >= deadline) return 'depleted'
    }
  }

  /** Sends a recorded payment. `onFailure` is `undecided` if it was sent before: it may still be accepted. */
  async #send(claim: HeldClaim, payment: Payment, onFailure: 'failed' | 'undecided'): Promise<ClaimResult> {
    const { claims, wallet, log } = this.#options
    const sending = await wallet.send(payment)
    const fields = { claim: claim.id, transaction: toHex(payment.id) }
    switch (sending.kind) {
      case 'settled':
        return this.#conclude(claim, payment, 'settled')
      case 'accepted':
        return this.#conclude(claim, payment, 'funded')
      case 'rejected':
        log?.warn({ ...fields, err: sending.error }, 'Faucet payment rejected')
        await claims.conclude(claim, onFailure)
        return { kind: 'validation-failed' }
      case 'unsent':
        log?.warn({ ...fields, err: sending.error }, 'Faucet payment could not be sent')
        await claims.conclude(claim, onFailure)
        return { kind: 'undecided' }
      case 'unknown':
        log?.warn(
          { ...fields, err: sending.error },
          'Faucet payment sent without confirmation; outcome unknown',
        )
        await claims.conclude(claim, 'undecided')
        this.#options.onUnsettled()
        return { kind: 'undecided' }
    }
  }

  async #conclude(
    claim: HeldClaim,
    payment: Payment,
    conclusion: 'funded' | 'settled',
  ): Promise<ClaimResult> {
    const { claims, log, onUnsettled } = this.#options
    const txHash = toHex(payment.id)
    try {
      await claims.conclude(claim, conclusion)
      log?.info({ claim: claim.id, transaction: txHash, lovelace: String(claim.amount) }, 'Faucet claim paid')
    } catch (err) {
      // The claim is paid nevertheless; the process that takes it next finds the payment.
      log?.warn(
        { err, claim: claim.id, transaction: txHash },
        'Failed to record that a faucet claim was paid',
      )
    }
    if (conclusion === 'funded') onUnsettled()
    return {
      kind: 'funded',
      claimId: claim.id,
      txHash,
      amount: claim.amount,
      nextEligibleAt: claim.nextEligibleAt,
    }
  }

  /** Resolves when a claim ends, or after a while: other processes may release funds, too. */
  async #fundsReleased(): Promise<void> {
    const signal = AbortSignal.timeout(stallMs)
    await once(this.#claims, 'ended', { signal }).catch(() => this.#options.onStalled())
  }
}
