import type { Lease, Store } from '@ratatosk/store'

/** Makes a block of the oldest transactions; `number` (1 to 255) is in its hashes. @throws without any */
export async function buildBlock(
  { blocks }: Pick<Store, 'blocks'>,
  lease: Lease,
  number: number,
  most = 100,
): ReturnType<Store['blocks']['build']> {
  const oldest = await blocks.oldest(most)
  const [first, last] = [oldest.at(0), oldest.at(-1)]
  if (first === undefined || last === undefined) {
    throw new Error('The mempool is empty')
  }
  const newest = await blocks.newest()
  return blocks.build(
    {
      headerHash: new Uint8Array(28).fill(number),
      header: Uint8Array.of(number),
      previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
      utxosRoot: new Uint8Array(32),
      startTime: 1_767_225_540_000n,
      endTime: 1_767_225_600_000n,
      firstSequence: first.sequence,
      lastSequence: last.sequence,
      transactions: oldest.length,
      commitTransaction: { id: new Uint8Array(32).fill(number), cbor: Uint8Array.of(number) },
    },
    lease,
  )
}
