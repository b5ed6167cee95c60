import type { RuleContext } from '@ratatosk/ledger'
import type { DeliverySlot } from '@ratatosk/queue'
import type { Outcome } from './activity.js'
import type { ExaminedDelivery } from './commit-batch.js'
import type { Candidate } from './examine.js'
import type { Copy } from './orphans.js'
import type { ParkedDelivery, ScriptLane } from './script-lane.js'
import type { SignatureChecks } from './signatures.js'
import type { ParkedDecision } from './validate-batch.js'

export interface WaitingDelivery extends ExaminedDelivery {
  readonly slot: DeliverySlot
  settle(outcome: Outcome): void
}

/** A copy that is validated again or for the first time. */
export interface Offer extends Copy {
  /** Its id in the script lane, if it has one. */
  readonly parkedAs?: string
}

interface ParkingOptions {
  readonly scripts: ScriptLane
  readonly signatures: Pick<SignatureChecks<ParkedDelivery>, 'remember'>
  /** Aborted when the worker closes. */
  readonly signal: AbortSignal
  validateAgain(item: WaitingDelivery | Offer): void
}

/** Moves deliveries into the script lane and back. */
export class Parking {
  readonly #options: ParkingOptions
  readonly #parked = new Set<WaitingDelivery>()

  constructor(options: ParkingOptions) {
    this.#options = options
  }

  /** Vacates the delivery's worker slot while it waits for scripts or for many signatures. */
  async park(
    entry: WaitingDelivery,
    candidate: Candidate,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    const { scripts, signatures, signal, validateAgain } = this.#options
    if (signal.aborted) {
      entry.settle({ kind: 'released' })
      return
    }
    this.#parked.add(entry)
    entry.slot.vacate()
    const examined = await scripts.park(entry.delivery.id, candidate, decision, context)
    if (!this.#parked.delete(entry)) return
    if (examined === undefined) {
      if (candidate.verified) signatures.remember(candidate.transaction, [])
      entry.settle({ kind: 'deferred', afterMs: scripts.deferMs() })
    } else validateAgain({ ...entry, examined })
  }

  /** Validates a copy again with its signatures. If it has to wait, its delivery does that. */
  async verifyCopy(
    { candidate, until }: Copy,
    decision: ParkedDecision,
    context: RuleContext,
  ): Promise<void> {
    const { scripts, signal, validateAgain } = this.#options
    const parkedAs = `copy of ${candidate.key}`
    if (signal.aborted || scripts.has(parkedAs)) return
    const verified = await scripts.park(parkedAs, candidate, decision, context)
    if (verified !== undefined) validateAgain({ candidate: verified, until, parkedAs })
  }

  close(): void {
    for (const entry of this.#parked) entry.settle({ kind: 'released' })
    this.#parked.clear()
  }
}
