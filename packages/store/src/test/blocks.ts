import type { Block, NewBlock } from '../blocks/types.js'
import type { Lease } from '../leases/types.js'
import type { Store } from '../store.js'
import { bytes, idOf } from './transactions.js'

/** 28 bytes that differ for each name. */
export function headerHashOf(name: string): Uint8Array {
  return idOf(name).slice(0, 28)
}

export async function takeLease(store: Store, name = 'sequencer'): Promise<Lease> {
  const lease = await store.leases.acquire(name, 'a test', 3_600_000)
  if (lease === undefined) throw new Error(`The lease ${name} is held`)
  return lease
}

/** A block of the oldest `limit` transactions of the mempool, with a unique header. */
export async function newBlock({ blocks }: Store, name: string, limit: number): Promise<NewBlock> {
  const oldest = await blocks.oldest(limit)
  const newest = await blocks.newest()
  return {
    headerHash: headerHashOf(name),
    header: bytes(`header of ${name}`),
    previousHeaderHash: newest?.headerHash ?? new Uint8Array(28),
    utxosRoot: idOf(`root after ${name}`),
    startTime: newest?.endTime ?? 1_000n,
    endTime: (newest?.endTime ?? 1_000n) + 60_000n,
    firstSequence: oldest.at(0)?.sequence ?? 0n,
    lastSequence: oldest.at(-1)?.sequence ?? 0n,
    transactions: oldest.length,
    commitTransaction: { id: idOf(`commit ${name}`), cbor: bytes(`commit ${name}`) },
  }
}

export async function buildBlock(store: Store, lease: Lease, name: string, limit: number): Promise<Block> {
  return store.blocks.build(await newBlock(store, name, limit), lease)
}
