import type { ProvisionalEffects, ProvisionalOutput } from './batch-view.js'
import type { Candidate } from './examine.js'

/** The pending effects of the undecided transactions on the ledger, and the holder of each. */
export class Provisional<Holder extends { readonly candidate: Candidate }> implements ProvisionalEffects {
  readonly outputs = new Map<string, ProvisionalOutput>()
  readonly spenders = new Map<string, Candidate>()
  readonly #holders = new Map<Candidate, Holder>()

  /** The holders of those candidates that are undecided. */
  holdersOf(candidates: readonly Candidate[]): readonly Holder[] {
    return candidates
      .map((candidate) => this.#holders.get(candidate))
      .filter((holder) => holder !== undefined)
  }

  /** @param waits for an output that an undecided transaction spends, or for its signatures to be verified */
  add(holder: Holder, waits: boolean): void {
    const { candidate } = holder
    this.#holders.set(candidate, holder)
    if (!waits) for (const key of candidate.spentKeys) this.spenders.set(key, candidate)
    for (const { key, output } of candidate.produced) {
      // Another delivery of the same transaction may be further.
      if (waits && this.outputs.has(key)) continue
      this.outputs.set(key, { output, owner: candidate, ownerWaits: waits })
    }
  }

  remove({ candidate }: Holder): void {
    this.#holders.delete(candidate)
    for (const key of candidate.spentKeys) {
      if (this.spenders.get(key) === candidate) this.spenders.delete(key)
    }
    for (const { key } of candidate.produced) {
      if (this.outputs.get(key)?.owner === candidate) this.outputs.delete(key)
    }
  }
}
