import { BytesMap } from '@ratatosk/cbor'
import { decodeOutputReference, outputReferenceKey } from '@ratatosk/ledger'

/** Milliseconds until a withdrawal that was set aside is tried again. */
const retryAfterMs = 600_000

/** How many withdrawals a payout of a settlement takes, and which are left out. */
export class Batches {
  readonly #most: number
  readonly #sizes = new BytesMap<number>()
  readonly #aside = new BytesMap<{ readonly until: number; readonly reason: string }>()

  constructor(most: number) {
    this.#most = most
  }

  /** How many a payout of a block's settlement takes at most. */
  sizeOf(headerHash: Uint8Array): number {
    return this.#sizes.get(headerHash) ?? this.#most
  }

  /** A payout with so many was too large. */
  halve(headerHash: Uint8Array, tried: number): void {
    this.#sizes.set(headerHash, Math.max(1, Math.floor(tried / 2)))
  }

  /** Leaves a withdrawal out for a while: no payout with it alone can be built. */
  setAside(headerHash: Uint8Array, outref: Uint8Array, reason: string): void {
    this.#aside.set(outref, { until: performance.now() + retryAfterMs, reason })
    // It may have been the reason why larger ones could not be built.
    this.#sizes.delete(headerHash)
  }

  /** Why a withdrawal is left out now; undefined if it is not. */
  reasonAside(outref: Uint8Array): string | undefined {
    const aside = this.#aside.get(outref)
    if (aside === undefined || performance.now() < aside.until) return aside?.reason
    this.#aside.delete(outref)
    return undefined
  }

  /** Those that are left out now. */
  aside(): { readonly outref: string; readonly reason: string }[] {
    return [...this.#aside].map(([outref, { reason }]) => ({
      outref: outputReferenceKey(decodeOutputReference(outref)),
      reason,
    }))
  }
}
