import type { ChainView } from './chain-view.js'

/** Milliseconds by which an index may be behind and still count as synchronized, as in Kupo. */
const toleranceMs = 120_000n

/** How much of the time of a chain its index has followed, from 0 to 1. */
export function synchronization({ slots }: Pick<ChainView, 'slots'>, indexed: bigint, tip: bigint): number {
  if ((tip - indexed) * BigInt(slots.slotLength) <= toleranceMs) return 1
  return Number((indexed * 100_000n) / tip) / 100_000
}
