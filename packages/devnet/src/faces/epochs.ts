/** Slots in an epoch: mainnet's number. Nothing happens here between two epochs. */
export const epochLength = 432_000n

export function epochOf(slot: bigint): number {
  return Number(slot / epochLength)
}
