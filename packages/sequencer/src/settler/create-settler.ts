import { setTimeout as sleep } from 'node:timers/promises'
import { isLayer1Error } from '@ratatosk/layer1'
import { blake2b224, encodeBech32Address, keyAddress } from '@ratatosk/ledger'
import type { WalletKeys } from '@ratatosk/ledger/builder'
import type { Log } from '@ratatosk/ports'
import type { HeldLease } from '@ratatosk/store'
import { createOwedReader } from './owed-reader.js'
import { createPayer, type Payer } from './payer.js'
import type { Settler, SettlerOptions, SettlerStatus } from './types.js'

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined }

/**
 * Creates a settler, which pays what merged blocks owe to those who withdraw. Of all settlers on one store,
 * one is active at a time, elected by a lease. It keeps nothing: a new one goes on from layer 1 and blocks.
 *
 * @example
 * const wallet = openWallet({ layer1, keys: settlerKeys(operatorKeys), evaluator })
 * const { blocks, leases } = store
 * const settler = createSettler({ layer1, contracts, blocks, leases, wallet, fundedBy, holder: 'node-1' })
 * await settler.start()
 * await settler.close() // before store and layer 1
 */
export function createSettler(given: SettlerOptions): Settler {
  const options = {
    validityMs: 120_000,
    batch: 16,
    maxInFlight: 8,
    tidyFrom: 50,
    autoPay: true,
    pollMs: 1000,
    leaseMs: 10_000,
    isNeeded: () => true,
    log: silent,
    ...given,
  }
  const { layer1, leases, holder, log, leaseMs, pollMs, isNeeded } = options
  const closing = new AbortController()
  const reader = createOwedReader(options)
  let payer: Payer | undefined
  let present: HeldLease | undefined
  let running: Promise<void> | undefined
  let fault: string | undefined

  const isActive = (): boolean => present !== undefined && !present.lost.aborted

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal }).catch(() => undefined)
  }

  /** Does some work; a failure is reported once, and the work is repeated later. */
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      fault = undefined
    } catch (error) {
      if (closing.signal.aborted) return
      const reason = isLayer1Error(error) ? `layer 1: ${error.message}` : String(error)
      if (reason !== fault) log.warn({ reason }, 'Withdrawals are not paid now')
      fault = reason
    }
  }

  async function workUnder(held: HeldLease): Promise<void> {
    const signal = AbortSignal.any([held.lost, closing.signal])
    try {
      payer ??= createPayer(options, (await layer1.slots({ signal })).slotLength)
      present = held
      log.info({ holder }, `${holder} pays withdrawals`)
      const active = payer
      while (!signal.aborted && isNeeded()) {
        await attempt(() => active.tick(signal))
        await pause(pollMs)
      }
    } finally {
      present = undefined
      await held.release()
    }
  }

  async function loop(): Promise<void> {
    while (!closing.signal.aborted) {
      await attempt(async () => {
        const held = isNeeded() ? await leases.hold('settler', holder, leaseMs) : undefined
        if (held !== undefined) await workUnder(held)
      })
      await pause(Math.min(leaseMs / 5, 1000))
    }
  }

  return {
    async start() {
      running ??= loop()
    },
    async pay(payOptions = {}) {
      if (payer === undefined || present === undefined || !isActive())
        throw new SettlerError('SETTLER_NOT_ACTIVE', 'This process does not pay withdrawals now')
      return payer.pay(payOptions, AbortSignal.any([present.lost, closing.signal]))
    },
    remaining: (headerHash, signal) => reader.remaining(headerHash, signal),
    count: (headerHash, signal) => reader.count(headerHash, signal),
    payouts: (headerHash, signal) => reader.payouts(headerHash, signal),
    draft: (order, signal) => reader.draft(order, signal),
    status: () => statusOf(options, payer, isActive(), fault),
    async close() {
      closing.abort()
      await running
    },
  }
}

function statusOf(
  { wallet }: SettlerOptions,
  payer: Payer | undefined,
  active: boolean,
  fault: string | undefined,
): SettlerStatus {
  const empty = { wallet: wallet.address, settlements: [], inFlight: 0, paid: 0, setAside: [] }
  return { ...(payer?.status() ?? empty), active, ...(fault !== undefined && { fault }) }
}

/** Distinguishes the address from others of the same key. */
const tag = new TextEncoder().encode('ratatosk settler')

/**
 * The keys of the wallet that pays the fees of payouts: the operator's key, at an address of its own. Payouts
 * that others overtake never take commits with them then.
 */
export function settlerKeys({ payment, address: operator }: WalletKeys): WalletKeys {
  const hash = blake2b224(Uint8Array.from([...tag, ...payment.hash]))
  const address = keyAddress(payment.hash, operator.networkId === 1 ? 1 : 0, { kind: 'key', hash })
  return { payment, address, addressText: encodeBech32Address(address) }
}

/**
 * | code | meaning |
 * | --- | --- |
 * | `SETTLER_NOT_ACTIVE` | another process pays, or this one does not sequence now |
 */
export type SettlerErrorCode = 'SETTLER_NOT_ACTIVE'

/** The error that a settler throws. */
export class SettlerError extends Error {
  override readonly name = 'SettlerError'

  constructor(
    readonly code: SettlerErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** Whether a caught value is a {@link SettlerError}; works across copies of the package. */
export function isSettlerError(value: unknown): value is SettlerError {
  return value instanceof Error && value.name === 'SettlerError'
}
