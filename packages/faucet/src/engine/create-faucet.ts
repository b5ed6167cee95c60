import { setTimeout as pause } from 'node:timers/promises'
import { toHex } from '@ratatosk/ledger'
import type { ClaimStore, FaucetWallet } from '../ports.js'
import type { ClaimRequest, ClaimResult, Faucet, Log } from '../types.js'
import { keepHolds } from './holds.js'
import { Payer } from './payer.js'
import { settlePayments } from './settle.js'

export interface FaucetSettings {
  readonly claims: ClaimStore
  readonly wallet: FaucetWallet
  /** Lovelace of one claim. Default: 100,000,000. */
  readonly amount?: bigint
  /** Between two claims of an address, in milliseconds. Default: 86,400,000. */
  readonly cooldownMs?: number
  /** Claims with one `ipHash` in any 24 hours. Default: 5. */
  readonly dailyIpLimit?: number
  /** Lovelace that stays in the wallet. Default: 100,000,000. */
  readonly minBalance?: bigint
  /** How long a process that says nothing keeps the claims that it carries on, in milliseconds. Default: 10,000. */
  readonly leaseMs?: number
  readonly log?: Log
  /** POSIX milliseconds. Default: `Date.now`. */
  readonly now?: () => number
}

/** How long a claim waits for another process or for money under way before it is answered. */
const patienceMs = 20_000
/** Between two looks at a claim that another process carries on. */
const lookMs = 100
/** Between two sweeps as long as payments are under way. */
const settleEveryMs = 30_000

/**
 * Pays claims, each once, whatever crashes: claims are reserved before they are paid, payments are kept before they are sent, and
 * nothing new is paid before it is certain that what was kept will never happen. Any number of processes may share the claims
 * and the wallet.
 *
 * @throws {TypeError} on options that make no sense
 *
 * @example
 * ```ts
 * const pays = createFaucet({ claims: store.faucetClaims, wallet })
 * await pays.settle()
 * await server.register(faucet, { token, network: 'testnet', faucet: pays })
 * // …
 * await server.close()
 * await pays.close()
 * ```
 */
export function createFaucet(settings: FaucetSettings): Faucet {
  const { claims, wallet, log, now = Date.now } = settings
  const { amount, cooldownMs, dailyIpLimit, minBalance, leaseMs } = checked(settings)
  const holds = keepHolds(claims, leaseMs, log)
  const payer = new Payer({
    claims,
    wallet,
    minBalance,
    patienceMs,
    log,
    onUnderWay: settleLater,
    onStalled: settleBeside,
  })
  const flights = new Map<string, Promise<ClaimResult>>()
  let settling: Promise<number> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  async function carry(request: ClaimRequest): Promise<ClaimResult> {
    const deadline = performance.now() + patienceMs
    let settled = false
    for (;;) {
      const moment = new Date(now())
      const reservation = await claims.reserve({
        ...request,
        amount,
        now: moment,
        cooldownMs,
        dailyIpLimit,
        leaseMs,
      })
      switch (reservation.kind) {
        case 'held': {
          const { claim } = reservation
          const result = await holds.during([claim], () => payer.pay(claim))
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
          await pause(lookMs)
          break
        case 'key-used':
          return { kind: 'key-used' }
        default:
          // What was not paid after all does not count; so that is found out first.
          if (!reservation.overdue || settled) return refusal(reservation)
          settled = true
          await settle()
      }
    }
  }

  function claim(request: ClaimRequest): Promise<ClaimResult> {
    if (closed) return Promise.reject(new Error('The faucet is closed'))
    const name = `${toHex(request.address)} ${request.idempotencyKey}`
    const flight = flights.get(name) ?? carry(request).finally(() => flights.delete(name))
    flights.set(name, flight)
    return flight
  }

  function settle(): Promise<number> {
    settling ??= sweep().finally(() => {
      settling = undefined
    })
    return settling
  }

  async function sweep(): Promise<number> {
    clearTimeout(timer)
    timer = undefined
    try {
      await settlePayments({ claims, wallet, holds, leaseMs, log, now })
      const { length } = await claims.underWay()
      if (length > 0) settleLater()
      return length
    } catch (error) {
      settleLater()
      throw error
    }
  }

  function settleLater(): void {
    if (closed) return
    timer ??= setTimeout(settleBeside, settleEveryMs).unref()
  }

  function settleBeside(): void {
    settle().catch((err: unknown) => {
      log?.warn({ err }, 'what became of the payments of the faucet could not be found out')
    })
  }

  return {
    claim,
    settle,
    async close() {
      closed = true
      clearTimeout(timer)
      await Promise.allSettled(flights.values())
      await Promise.allSettled([settling])
    },
  }
}

function refusal(
  reservation: { readonly kind: 'cooldown'; readonly nextEligibleAt: Date } | { readonly kind: 'ip-limit' },
): ClaimResult {
  if (reservation.kind === 'ip-limit') return { kind: 'ip-limit' }
  return { kind: 'cooldown', nextEligibleAt: reservation.nextEligibleAt }
}

function checked(settings: FaucetSettings) {
  const { amount = 100_000_000n, minBalance = 100_000_000n } = settings
  const { cooldownMs = 86_400_000, dailyIpLimit = 5, leaseMs = 10_000 } = settings
  if (amount <= 0n) throw new TypeError('@ratatosk/faucet: amount must be positive')
  if (minBalance < 0n) throw new TypeError('@ratatosk/faucet: minBalance must not be negative')
  wholeNumber('cooldownMs', cooldownMs, 0)
  wholeNumber('dailyIpLimit', dailyIpLimit, 1)
  wholeNumber('leaseMs', leaseMs, 1)
  return { amount, minBalance, cooldownMs, dailyIpLimit, leaseMs }
}

function wholeNumber(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new TypeError(`@ratatosk/faucet: ${name} must be a whole number, at least ${least}`)
}
