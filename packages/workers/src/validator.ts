import type { Failures, PhaseTwo, ProtocolParameters, SlotConfig } from '@ratatosk/ledger'
import type { Delivery, DeliverySlot, Disposition } from '@ratatosk/queue'
import type { Outcome } from './activity.js'
import { BatchRunner, type BatchRunnerOptions } from './batch-runner.js'
import { contextAt } from './context.js'
import { type Candidate, examine, isCandidate, type Leaving } from './examine.js'
import type { SharedOrphan } from './orphans.js'
import { type ParkedDelivery, ScriptLane } from './script-lane.js'
import { maxVerifiedOnArrival, SignatureChecks } from './signatures.js'
import { slotsOfTries } from './tries.js'
import type { BatchContext } from './validate-batch.js'

export interface ValidatorOptions extends Omit<BatchRunnerOptions, 'scripts' | 'signatures' | 'context'> {
  readonly parameters: ProtocolParameters
  readonly networkId: number
  readonly slots: SlotConfig
  readonly evaluator: PhaseTwo['evaluator'] | undefined
  readonly leaving: Leaving | undefined
  /** When the next block begins: now, or at the end of the newest one. */
  blockTime(): number
  readonly scriptConcurrency: number
  readonly maxWaitingForScripts: number
}

/** Bytes of CBOR that wait for scripts. */
const maxLaneBytes = 16 * 1024 * 1024

/** Validates deliveries in two phases: phase A here, one by one, and phase B in batches. */
export class Validator {
  readonly #options: ValidatorOptions
  readonly #signatures = new SignatureChecks<ParkedDelivery>()
  readonly #scripts: ScriptLane
  readonly #runner: BatchRunner
  readonly #slotsOfTries: bigint

  constructor(options: ValidatorOptions) {
    const { evaluator, slots, scriptConcurrency, maxWaitingForScripts } = options
    this.#options = options
    this.#slotsOfTries = slotsOfTries(options, slots.slotLength)
    this.#scripts = new ScriptLane({
      phaseTwo: evaluator === undefined ? undefined : { evaluator, slots },
      signatures: this.#signatures,
      concurrency: scriptConcurrency,
      maxCount: maxWaitingForScripts,
      maxBytes: maxLaneBytes,
    })
    this.#runner = new BatchRunner({
      ...options,
      scripts: this.#scripts,
      signatures: this.#signatures,
      context: () => this.#context(),
    })
  }

  /** Never rejects. `slot` is vacated while the transaction waits for scripts or many signatures. */
  async validate(delivery: Delivery, slot: DeliverySlot): Promise<Disposition> {
    const { observer, backoff } = this.#options
    const outcome = await this.#outcome(delivery, slot)
    this.#scripts.leave(delivery.id)
    observer.settled(delivery, outcome)
    return dispositionOf(outcome, backoff(delivery.attempt))
  }

  async #outcome(delivery: Delivery, slot: DeliverySlot): Promise<Outcome> {
    let examined: Candidate | Failures
    const began = performance.now()
    try {
      examined = examine(delivery.cbor, this.#context(), this.#options.leaving, {
        max: maxVerifiedOnArrival,
        remembered: this.#signatures,
      })
      if (isCandidate(examined)) examined = this.#scripts.recall(examined)
      this.#options.observer.examined(performance.now() - began)
    } catch (error) {
      return this.#runner.fail(delivery, undefined, error)
    }
    return new Promise((settle) => {
      this.#runner.add({ delivery, examined, slot, settle })
    })
  }

  get busy(): boolean {
    return this.#runner.busy
  }

  get waitingForScripts(): number {
    return this.#scripts.size
  }

  /** Takes a copy of a transaction that waits for its next delivery: it is accepted if possible. */
  offer({ cbor, until }: SharedOrphan): void {
    if (!(until > this.#options.now())) return
    try {
      // The worker that has the delivery may have verified the signatures, and this one may never need to.
      const signatures = { max: 0, remembered: this.#signatures }
      const candidate = examine(cbor, this.#context(), this.#options.leaving, signatures)
      if (isCandidate(candidate) && candidate.flaws.length === 0) this.#runner.add({ candidate, until })
    } catch {
      // The validator that gets the delivery reports the defect.
    }
  }

  /** Finishes the batch that is running. Deliveries that wait for scripts or for the store are released. */
  close(): void {
    this.#runner.close()
  }

  #context(): BatchContext {
    const context = contextAt(this.#options, this.#options.blockTime())
    return { ...context, lastTry: context.slot + this.#slotsOfTries }
  }
}

function dispositionOf(outcome: Outcome, backoffMs: number): Disposition {
  switch (outcome.kind) {
    case 'postponed':
      return { kind: 'again', afterMs: backoffMs }
    case 'deferred':
      return { kind: 'later', afterMs: outcome.afterMs }
    case 'released':
      return { kind: 'release' }
    default:
      return { kind: 'done' }
  }
}
