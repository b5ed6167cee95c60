import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { equalBytes, toHex } from '@ratatosk/cbor'
import type {
  ClaimPayer,
  ClaimRequest,
  ClaimResult,
  ClaimStore,
  Conclusion,
  HeldClaim,
  Log,
  Payment,
} from '@ratatosk/ports'
import { Mutex } from 'async-mutex'
import pLimit from 'p-limit'
import { FaucetPayerError, type FaucetWallet } from './wallet.js'

/** Options of {@link createFaucetPayer}. */
export interface FaucetPayerOptions {
  /** `store.faucetClaims` of `@ratatosk/store`. */
  readonly claims: ClaimStore
  /** {@link createLayer1FaucetWallet} or {@link createLayer2FaucetWallet}. */
  readonly wallet: FaucetWallet
  /** Lovelace per claim. @defaultValue 100,000,000 */
  readonly amount?: bigint
  /** Time between two claims of an address, in milliseconds. @defaultValue 86,400,000 */
  readonly cooldownMs?: number
  /** The most claims with one `ipHash` in any 24 hours. @defaultValue 5 */
  readonly dailyIpLimit?: number
  /**
   * Lovelace that the wallet must hold in addition to the amount; the fee is taken from it.
   *
   * @defaultValue 100,000,000
   */
  readonly minBalance?: bigint
  /**
   * How long a process that stops responding keeps the claims that it works on, in milliseconds.
   *
   * @defaultValue 10,000
   */
  readonly leaseMs?: number
  /** Never gets a token, a key or an `ipHash`. */
  readonly log?: Log
  /** POSIX milliseconds. @defaultValue `Date.now` */
  readonly now?: () => number
}

/** A {@link ClaimPayer} that also follows its payments until they are final. */
export interface FaucetPayer extends ClaimPayer {
  /**
   * Looks up unsettled payments and sends those again that the network has lost. Call it at startup, because
   * an earlier process may have left some. From then on it runs every 30 s while there are any. Network
   * failures go to the log.
   *
   * @returns the number of payments that are still unsettled
   * @throws (rejects) when the store fails
   */
  settle(): Promise<number>
  /** Refuses further claims and waits for those in progress. Safe to call twice. */
  close(): Promise<void>
}

/** How long a claim waits for another process, or for funds, before it is answered. */
const claimTimeoutMs = 20_000
/** Poll interval of a claim that another process holds. */
const pollMs = 100
/** Time between two sweeps while payments are unsettled. */
const settleEveryMs = 30_000

/** A payer at work: its checked options and its state. */
interface Payer extends ReturnType<typeof checked> {
  readonly leases: ClaimLeases
  readonly payments: ClaimPayments
  /** By address and idempotency key. */
  readonly inProgress: Map<string, Promise<ClaimResult>>
  settling: Promise<number> | undefined
  /** Starts the next sweep. */
  timer: NodeJS.Timeout | undefined
  isClosed: boolean
}

/**
 * Pays each claim once, across crashes: a claim is reserved before it is paid, a payment is recorded before
 * it is sent, and no other payment is built until it is certain that the recorded one will never be included.
 * Any number of processes may share the claim store and the wallet's keys.
 *
 * @throws {FaucetPayerError} `FAUCET_PAYER_CONFIGURATION`
 *
 * @example
 * ```ts
 * const payer = createFaucetPayer({ claims: store.faucetClaims, wallet })
 * await payer.settle()
 * await server.register(faucet, { token, network: 'testnet', payer })
 * // …
 * await server.close()
 * await payer.close()
 * ```
 */
export function createFaucetPayer(options: FaucetPayerOptions): FaucetPayer {
  const settings = checked(options)
  const { claims, wallet, minBalance, leaseMs, log } = settings
  const payer: Payer = {
    ...settings,
    leases: holdLeases(claims, leaseMs, log),
    payments: new ClaimPayments({
      claims,
      wallet,
      minBalance,
      timeoutMs: claimTimeoutMs,
      log,
      onUnsettled: () => settleLater(payer),
      onStalled: () => settleInBackground(payer),
    }),
    inProgress: new Map(),
    settling: undefined,
    timer: undefined,
    isClosed: false,
  }
  const { inProgress } = payer
  return {
    async claim(request) {
      if (payer.isClosed) throw new FaucetPayerError('FAUCET_PAYER_CLOSED', 'The faucet is closed')
      const id = `${toHex(request.address)} ${request.idempotencyKey}`
      const result = inProgress.get(id) ?? pay(payer, request).finally(() => inProgress.delete(id))
      inProgress.set(id, result)
      return result
    },
    settle: () => settle(payer),
    async close() {
      payer.isClosed = true
      clearTimeout(payer.timer)
      await Promise.allSettled(inProgress.values())
      await Promise.allSettled([payer.settling])
    },
  }
}

async function pay(payer: Payer, request: ClaimRequest): Promise<ClaimResult> {
  const { claims, amount, cooldownMs, dailyIpLimit, leaseMs } = payer
  const deadline = performance.now() + claimTimeoutMs
  let isSettled = false
  for (;;) {
    const now = new Date(payer.now())
    const reservation = await claims.reserve({ ...request, amount, now, cooldownMs, dailyIpLimit, leaseMs })
    switch (reservation.kind) {
      case 'held': {
        const { claim } = reservation
        const result = await payer.leases.during([claim], () => payer.payments.pay(claim))
        if (result !== 'lost') return result
        if (performance.now() >= deadline) return { kind: 'undecided' }
        break
      }
      case 'funded': {
        const { id, paymentId, amount: paid, nextEligibleAt } = reservation.claim
        return { kind: 'funded', claimId: id, txHash: toHex(paymentId), amount: paid, nextEligibleAt }
      }
      case 'busy':
        if (performance.now() >= deadline) return { kind: 'undecided' }
        await delay(pollMs)
        break
      case 'key-used':
        return { kind: 'key-used' }
      default:
        // A claim that was never paid does not count, so the outcome of overdue payments is looked up first.
        if (!reservation.overdue || isSettled) return refusal(reservation)
        isSettled = true
        await settle(payer)
    }
  }
}

function settle(payer: Payer): Promise<number> {
  payer.settling ??= sweep(payer).finally(() => {
    payer.settling = undefined
  })
  return payer.settling
}

async function sweep(payer: Payer): Promise<number> {
  clearTimeout(payer.timer)
  payer.timer = undefined
  try {
    await settlePayments(payer)
    const { length } = await payer.claims.underWay()
    if (length > 0) settleLater(payer)
    return length
  } catch (error) {
    settleLater(payer)
    throw error
  }
}

function settleLater(payer: Payer): void {
  if (payer.isClosed) return
  payer.timer ??= setTimeout(() => settleInBackground(payer), settleEveryMs).unref()
}

function settleInBackground(payer: Payer): void {
  settle(payer).catch((err: unknown) => {
    payer.log?.warn({ err }, 'Failed to look up unsettled faucet payments; the next sweep looks again')
  })
}

function refusal(
  reservation: { readonly kind: 'cooldown'; readonly nextEligibleAt: Date } | { readonly kind: 'ip-limit' },
): ClaimResult {
  if (reservation.kind === 'ip-limit') return { kind: 'ip-limit' }
  return { kind: 'cooldown', nextEligibleAt: reservation.nextEligibleAt }
}

function checked(options: FaucetPayerOptions) {
  const { claims, wallet, log, now = Date.now } = options
  const { amount = 100_000_000n, minBalance = 100_000_000n } = options
  const { cooldownMs = 86_400_000, dailyIpLimit = 5, leaseMs = 10_000 } = options
  requireOption(amount > 0n, 'amount must be positive')
  requireOption(minBalance >= 0n, 'minBalance must not be negative')
  requireInteger('cooldownMs', cooldownMs, 0)
  requireInteger('dailyIpLimit', dailyIpLimit, 1)
  requireInteger('leaseMs', leaseMs, 1)
  return { claims, wallet, log, now, amount, minBalance, cooldownMs, dailyIpLimit, leaseMs }
}

function requireInteger(name: string, value: number, least: number): void {
  requireOption(
    Number.isSafeInteger(value) && value >= least,
    `${name} must be an integer of at least ${least}`,
  )
}

function requireOption(holds: boolean, message: string): void {
  if (!holds) throw new FaucetPayerError('FAUCET_PAYER_CONFIGURATION', message)
}

/** The most claims that one sweep takes, and how many of them are looked up at a time. */
const maxClaims = 1000
const concurrency = 8

/** Finds the unsettled payments that no process holds, and resends those that the network has lost. */
async function settlePayments(payer: Payer): Promise<void> {
  const { claims, leases, leaseMs, log } = payer
  const taken = await claims.take(leaseMs, maxClaims)
  const limit = pLimit(concurrency)

  async function settle(claim: HeldClaim): Promise<void> {
    try {
      await claims.conclude(claim, await conclusionOf(claim, payer))
    } catch (err) {
      log?.warn({ err, claim: claim.id }, 'Failed to look up a faucet payment; it is looked up again later')
      await claims.conclude(claim, 'undecided').catch(() => {})
    }
  }
  await leases.during(taken, () => Promise.all(taken.map((claim) => limit(settle, claim))))
}

async function conclusionOf(claim: HeldClaim, { wallet, log, now }: Payer): Promise<Conclusion> {
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

/** Extends the leases of the claims that this process works on. */
interface ClaimLeases {
  /** Extends the leases of `claims` until `work` settles. */
  during<T>(claims: readonly HeldClaim[], work: () => Promise<T>): Promise<T>
}

/** One timer extends all leases together, three times per `leaseMs`. */
function holdLeases(store: Pick<ClaimStore, 'extend'>, leaseMs: number, log: Log | undefined): ClaimLeases {
  const held = new Set<HeldClaim>()
  let timer: NodeJS.Timeout | undefined

  function extend(): void {
    store.extend([...held], leaseMs).catch((err: unknown) => {
      log?.warn({ err }, 'Failed to extend the leases of faucet claims')
    })
  }

  return {
    async during(claims, work) {
      if (claims.length === 0) return work()
      for (const claim of claims) held.add(claim)
      timer ??= setInterval(extend, leaseMs / 3)
      try {
        return await work()
      } finally {
        for (const claim of claims) held.delete(claim)
        if (held.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
  }
}

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
class ClaimPayments {
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
